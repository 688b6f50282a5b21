#pragma once

#include <plait/merge/weighted_sum.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace plait {

/// What a method takes for one vector: a tensor, each of its rows (along the last axis), or each of its columns (along
/// axis 0).
enum class vector_scope { tensor, rows, columns };

namespace detail {

/// Inner products of the models' tensors, each a vector.
class gram {
public:
    explicit gram(std::size_t models) : models_(models), products_(models * models) {}

    std::size_t models() const { return models_; }
    double operator()(std::size_t i, std::size_t j) const {
        return products_[std::max(i, j) * models_ + std::min(i, j)];
    }
    void set(std::size_t i, std::size_t j, double product) {
        products_[std::max(i, j) * models_ + std::min(i, j)] = product;
    }
    double norm(std::size_t i) const { return std::sqrt((*this)(i, i)); }
    /// Of the angle between two; 0 where one is zero.
    double cosine(std::size_t i, std::size_t j) const {
        const double norms = norm(i) * norm(j);
        return norms > 0 ? std::min(1.0, std::max(-1.0, (*this)(i, j) / norms)) : 0;
    }
    /// Of sum(c_i x_i) with x_j.
    double product(std::span<const double> c, std::size_t j) const {
        double sum = 0;
        for (std::size_t i = 0; i < models_; ++i) sum += c[i] * (*this)(i, j);
        return sum;
    }
    /// Of sum(c_i x_i).
    double norm(std::span<const double> c) const {
        double sum = 0;
        for (std::size_t j = 0; j < models_; ++j) sum += c[j] * product(c, j);
        return std::sqrt(std::max(0.0, sum));
    }

    gram& operator+=(const gram& later) {
        for (std::size_t k = 0; k < products_.size(); ++k) products_[k] += later.products_[k];
        return *this;
    }
    template <std::floating_point F>
    void add(const block<F>& b, std::size_t at, std::size_t n) {
        for (std::size_t i = 0; i < models_; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sums[4] = {};
                const F* x = b.values[i].data() + at;
                const F* y = b.values[j].data() + at;
                std::size_t e = 0;
                for (; e + 4 <= n; e += 4)
                    for (std::size_t s = 0; s < 4; ++s)
                        sums[s] += static_cast<double>(x[e + s]) * static_cast<double>(y[e + s]);
                for (; e < n; ++e) sums[0] += static_cast<double>(x[e]) * static_cast<double>(y[e]);
                products_[i * models_ + j] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
            }
        }
    }

private:
    std::size_t models_;
    std::vector<double> products_; // lower triangle
};

/// The run of methods whose result lies in the span of the models: inner products first, from which coefficients
/// follow, then the sum. Rows need one pass, a tensor or columns two; memory for the inner products of all columns.
class gram_combination {
public:
    /// The inner products of a tensor; or of its columns, one pair of models after the other.
    struct partial_type {
        gram whole;
        std::vector<double> columns = {};
        partial_type& operator+=(const partial_type& later) {
            whole += later.whole;
            for (std::size_t p = 0; p < columns.size(); ++p) columns[p] += later.columns[p];
            return *this;
        }
    };
    using coefficients = std::function<std::vector<double>(const gram&)>;

    gram_combination(const tensor_context& context, coefficients find, vector_scope scope = vector_scope::tensor)
        : models_(context.models), find_(std::move(find)), scope_(scope) {
        const plait::shape& s = context.shape;
        if (s.rank() < 2 || s.size() == 0) scope_ = vector_scope::tensor; // all of it is one vector
        if (scope_ == vector_scope::rows) length_ = s[s.rank() - 1];
        if (scope_ == vector_scope::columns) length_ = s.size() / s[0];
    }

    std::size_t elements_together() const { return scope_ == vector_scope::rows ? length_ : 1; }
    bool is_settled() const { return scope_ == vector_scope::rows || !found_.empty(); }

    partial_type partial() const {
        partial_type p{gram(models_)};
        if (scope_ == vector_scope::columns) p.columns.resize(models_ * (models_ + 1) / 2 * length_);
        return p;
    }
    template <std::floating_point F>
    void observe(const block<F>& b, partial_type& p) const {
        if (scope_ == vector_scope::tensor) return p.whole.add(b, 0, b.size());
        for_each_line(b, [&](std::size_t column, std::size_t at, std::size_t n) {
            std::size_t pair = 0;
            for (std::size_t i = 0; i < models_; ++i)
                for (std::size_t j = 0; j <= i; ++j, ++pair) {
                    double* sums = p.columns.data() + pair * length_ + column;
                    const F* x = b.values[i].data() + at;
                    const F* y = b.values[j].data() + at;
                    for (std::size_t e = 0; e < n; ++e)
                        sums[e] += static_cast<double>(x[e]) * static_cast<double>(y[e]);
                }
        });
    }
    void settle(const partial_type& whole) {
        if (scope_ == vector_scope::tensor) {
            found_ = find_(whole.whole);
            return;
        }
        found_.resize(models_ * length_);
        for (std::size_t column = 0; column < length_; ++column) {
            gram g(models_);
            std::size_t pair = 0;
            for (std::size_t i = 0; i < models_; ++i)
                for (std::size_t j = 0; j <= i; ++j, ++pair) g.set(i, j, whole.columns[pair * length_ + column]);
            const std::vector<double> c = find_(g);
            for (std::size_t k = 0; k < models_; ++k) found_[k * length_ + column] = c[k];
        }
    }

    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        if (scope_ == vector_scope::tensor) return weighted_sum(b, found_, 0, out);
        if (scope_ == vector_scope::rows) {
            for (std::size_t at = 0; at < out.size(); at += length_) {
                gram g(models_);
                g.add(b, at, length_);
                weighted_sum(b, find_(g), at, out.subspan(at, length_));
            }
            return;
        }
        std::ranges::fill(out, 0.0);
        for_each_line(b, [&](std::size_t column, std::size_t at, std::size_t n) {
            for (std::size_t k = 0; k < models_; ++k) {
                const double* c = found_.data() + k * length_ + column;
                const F* x = b.values[k].data() + at;
                for (std::size_t e = 0; e < n; ++e) out[at + e] += c[e] * static_cast<double>(x[e]);
            }
        });
    }

private:
    // see(column, at, n): elements [at, at + n) of the block lie side by side, from that column on.
    template <std::floating_point F, class See>
    void for_each_line(const block<F>& b, const See& see) const {
        for (std::size_t at = 0; at < b.size();) {
            const std::size_t column = (b.first + at) % length_;
            const std::size_t n = std::min(length_ - column, b.size() - at);
            see(column, at, n);
            at += n;
        }
    }

    std::size_t models_;
    coefficients find_;
    vector_scope scope_;
    std::size_t length_ = 0;    // of a row; or how many columns there are
    std::vector<double> found_; // coefficients per model; of columns, those of one model after the other
};

} // namespace detail
} // namespace plait
