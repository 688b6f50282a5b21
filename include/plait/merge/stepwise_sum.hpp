#pragma once

#include <plait/core/dtype.hpp>
#include <plait/core/error.hpp>
#include <plait/core/scratch.hpp>
#include <plait/merge/combine.hpp>
#include <plait/merge/elect.hpp>
#include <plait/merge/merge_method.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait::detail {

/// The election and the sum of composition with every step rounded to the elements' type, as tools compute it that work
/// on whole tensors: compat::mergekit.
class stepwise_sum {
public:
    stepwise_sum(dtype type, ballot cast, divisor divide_by, std::vector<double> weights, double lambda)
        : cast_(cast), divide_by_(divide_by), weights_(std::move(weights)), lambda_(lambda) {
        visit_floating(type, [&]<class T>(T) {
            round_ = [](double x) { return static_cast<double>(static_cast<T>(x)); };
            using accumulator = std::conditional_t<sizeof(T) == sizeof(double), double, float>;
            round_sum_ = [](double x) { return static_cast<double>(static_cast<accumulator>(x)); };
        });
        for (double& w : weights_) w = round_(w);
    }

    double round(double x) const { return round_(x); }

    /// What makes up for what was dropped: sums of magnitudes, too, are rounded.
    double rescaling_of(double before, double after) const {
        const double whole = round_(before), kept = round_(after);
        return whole < 1e-7 || kept < 1e-7 ? 1 : round_(whole / kept);
    }

    /// The block's differences from the base, rounded.
    template <std::floating_point F>
    block<F> rounded(const block<F>& b, scratch& memory, std::vector<std::span<const F>>& values) const {
        if (b.base.empty()) return b;
        values.clear();
        F* to = memory.of<F>(b.values.size() * b.size());
        for (const auto& v : b.values) {
            for (std::size_t e = 0; e < v.size(); ++e) to[e] = static_cast<F>(round_(static_cast<double>(v[e])));
            values.emplace_back(to, v.size());
            to += v.size();
        }
        return {b.first, values, b.base};
    }

    /// Of sparse rows, each times its scale.
    void combine(std::span<const std::span<double>> rows, std::span<const double> scales, std::span<double> out) const {
        for (std::size_t e = 0; e < out.size(); ++e) {
            for (std::size_t k = 0; k < rows.size(); ++k) {
                double& x = rows[k][e];
                if (scales[k] != 1) x = round_(x * scales[k]);
                x = round_(x * weights_[k]);
            }
            out[e] = combined(rows, e);
        }
    }

private:
    double combined(std::span<const std::span<double>> rows, std::size_t e) const {
        double votes = 0, sum = 0, parts = 0;
        for (const auto& row : rows)
            votes = round_sum_(votes + (cast_ == ballot::sign ? (row[e] > 0) - (row[e] < 0) : row[e]));
        votes = round_(votes);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const double x = rows[k][e];
            const bool counts = cast_ == ballot::none || (votes >= 0 ? x > 0 : x < 0);
            sum = round_sum_(sum + (counts ? x : x * 0)); // NaN stays NaN
            const double part = divide_by_ == divisor::count ? 1 : weights_[k];
            parts = round_sum_(parts + (counts ? part : 0));
        }
        sum = round_(sum);
        parts = round_(parts);
        const bool is_none = cast_ == ballot::none ? std::fabs(parts) < 1e-8 : parts == 0;
        if (divide_by_ != divisor::one && !is_none) sum = round_(sum / parts);
        return lambda_ == 1 ? sum : round_(sum * lambda_);
    }

    ballot cast_;
    divisor divide_by_;
    std::vector<double> weights_;
    double lambda_;
    double (*round_)(double) = nullptr;     // to the elements' type
    double (*round_sum_)(double) = nullptr; // to that of sums of them
};

} // namespace plait::detail
