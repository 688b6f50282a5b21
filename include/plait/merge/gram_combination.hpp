#pragma once

#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace plait::detail {

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
    void add(const block<F>& b) {
        for (std::size_t i = 0; i < models_; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sums[4] = {};
                const F* x = b.values[i].data();
                const F* y = b.values[j].data();
                std::size_t e = 0;
                for (; e + 4 <= b.size(); e += 4)
                    for (std::size_t s = 0; s < 4; ++s)
                        sums[s] += static_cast<double>(x[e + s]) * static_cast<double>(y[e + s]);
                for (; e < b.size(); ++e) sums[0] += static_cast<double>(x[e]) * static_cast<double>(y[e]);
                products_[i * models_ + j] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
            }
        }
    }

private:
    std::size_t models_;
    std::vector<double> products_; // lower triangle
};

/// The run of methods whose result lies in the span of the models: one pass for the inner products, from which the
/// coefficients follow, and one for the sum.
class gram_combination {
public:
    using partial_type = gram;
    using coefficients = std::function<std::vector<double>(const gram&)>;

    gram_combination(std::size_t models, coefficients find) : models_(models), find_(std::move(find)) {}

    bool is_settled() const { return !found_.empty(); }
    gram partial() const { return gram(models_); }
    template <std::floating_point F>
    void observe(const block<F>& b, gram& g) const {
        g.add(b);
    }
    void settle(const gram& g) { found_ = find_(g); }

    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        std::ranges::fill(out, 0.0);
        for (std::size_t k = 0; k < b.values.size(); ++k)
            for (std::size_t e = 0; e < out.size(); ++e) out[e] += found_[k] * static_cast<double>(b.values[k][e]);
    }

private:
    std::size_t models_;
    coefficients find_;
    std::vector<double> found_;
};

} // namespace plait::detail
