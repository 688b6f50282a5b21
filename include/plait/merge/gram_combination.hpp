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

/// The run of methods whose result lies in the span of the models: one pass for the inner products, from which the
/// coefficients follow, and one for the sum. Memory: the inner products of every row or column.
class gram_combination {
public:
    struct partial_type {
        std::vector<gram> vectors;
        partial_type& operator+=(const partial_type& later) {
            for (std::size_t v = 0; v < vectors.size(); ++v) vectors[v] += later.vectors[v];
            return *this;
        }
    };
    using coefficients = std::function<std::vector<double>(const gram&)>;

    gram_combination(const tensor_context& context, coefficients find, vector_scope scope = vector_scope::tensor)
        : models_(context.models), find_(std::move(find)) {
        const plait::shape& s = context.shape;
        const std::size_t size = s.size();
        if (s.rank() == 0 || size == 0 || scope == vector_scope::tensor || s.rank() == 1) return;
        if (scope == vector_scope::rows) {
            run_ = s[s.rank() - 1];
            count_ = size / run_;
        } else {
            run_ = 1;
            count_ = size / s[0];
        }
    }

    bool is_settled() const { return !found_.empty(); }
    partial_type partial() const { return {std::vector<gram>(count_, gram(models_))}; }

    template <std::floating_point F>
    void observe(const block<F>& b, partial_type& p) const {
        for_each_run(b, [&](std::size_t vector, std::size_t at, std::size_t n) { p.vectors[vector].add(b, at, n); });
    }
    void settle(const partial_type& whole) {
        for (const gram& g : whole.vectors) {
            const std::vector<double> c = find_(g);
            found_.insert(found_.end(), c.begin(), c.end());
        }
    }

    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        for_each_run(b, [&](std::size_t vector, std::size_t at, std::size_t n) {
            weighted_sum(b, std::span(found_).subspan(vector * models_, models_), at, out.subspan(at, n));
        });
    }

private:
    // see(vector, at, n): elements [at, at + n) of the block belong to one vector.
    template <std::floating_point F, class See>
    void for_each_run(const block<F>& b, const See& see) const {
        if (count_ == 1) return see(0, 0, b.size());
        for (std::size_t at = 0; at < b.size();) {
            const std::size_t position = b.first + at;
            const std::size_t n = std::min(run_ - position % run_, b.size() - at);
            see(position / run_ % count_, at, n);
            at += n;
        }
    }

    std::size_t models_;
    coefficients find_;
    std::size_t count_ = 1; // vectors
    std::size_t run_ = 1;   // elements of one vector in a row
    std::vector<double> found_;
};

} // namespace detail
} // namespace plait
