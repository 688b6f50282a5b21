#pragma once

#include <plait/core/matrix_view.hpp>
#include <plait/permutation/permutation.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

namespace plait::detail {

/// For every unit of the anchor a distribution over the units of the model that it may correspond to: what is known of
/// an order while part of the evidence is missing. Row i belongs to unit i of the anchor; rows and columns sum to
/// about 1.
template <std::floating_point F>
class soft_map {
public:
    soft_map() = default;

    /// From products of units and the order that was matched on them. If those of true pairs lie `signal` above the
    /// others, which scatter by `noise`, the odds of a pair are exp(product * signal / noise^2); a few rounds of
    /// scaling (Sinkhorn and Knopp 1967) make them doubly stochastic. Costs are negated products.
    soft_map(matrix_view<const F> costs, const permutation& matched) : units_(costs.rows()) {
        const std::size_t n = units_;
        double sum = 0;
        double squares = 0;
        double signal = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (F c : costs.row(i)) {
                sum += static_cast<double>(c);
                squares += static_cast<double>(c) * static_cast<double>(c);
            }
            signal -= static_cast<double>(costs(i, matched[i]));
        }
        const auto count = static_cast<double>(n) * static_cast<double>(n);
        const double variance = std::max(0.0, squares / count - sum / count * (sum / count));
        signal = signal / static_cast<double>(n) + sum / count;
        const double sharpness = variance > 0 && signal > 0 ? signal / variance : 0;

        weights_.resize(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = costs.row(i);
            const F cheapest = *std::ranges::min_element(row);
            for (std::size_t j = 0; j < n; ++j)
                weights_[i * n + j] = std::exp(static_cast<F>(sharpness) * (cheapest - row[j]));
        }
        constexpr int rounds = 3;
        for (int round = 0; round < rounds; ++round) scale();

        double certain = 1;
        for (std::size_t i = 0; i < n; ++i) certain = std::min<double>(certain, weights_[i * n + matched[i]]);
        if (certain > 0.99) weights_.clear(); // the order says it all
    }

    /// Whether there is anything that the matched order does not say.
    bool is_certain() const { return weights_.empty(); }
    matrix_view<const F> weights() const { return {weights_.data(), units_, units_}; }

private:
    void scale() {
        std::vector<F> columns(units_);
        for (std::size_t i = 0; i < units_; ++i)
            for (std::size_t j = 0; j < units_; ++j) columns[j] += weights_[i * units_ + j];
        for (F& c : columns) c = c > 0 ? 1 / c : 0;
        for (std::size_t i = 0; i < units_; ++i) {
            F* row = weights_.data() + i * units_;
            F sum = 0;
            for (std::size_t j = 0; j < units_; ++j) {
                row[j] *= columns[j];
                sum += row[j];
            }
            if (!(sum > 0)) continue;
            const F scale = 1 / sum;
            for (std::size_t j = 0; j < units_; ++j) row[j] *= scale;
        }
    }

    std::size_t units_ = 0;
    std::vector<F> weights_; // empty when certain
};

} // namespace plait::detail
