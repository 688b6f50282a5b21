#pragma once

#include <plait/core/scratch.hpp>
#include <plait/merge/linear_combination.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/stepwise_sum.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

/// The weighted mean of the models: sum(w_k x_k) / sum(w_k); without weights sum(x_k) / N.
///
/// Sums are kept in double and rounded once. Elements that are equal in all models come back unchanged.
/// Throws option_error unless there are no weights or one per model, all finite and with a sum other than 0.
///     fuse(models, average{.weights = {.4, .3, .3}})
struct average {
    std::vector<double> weights = {}; ///< empty: all equal
    bool normalize = true;            ///< divide by the sum of the weights
    integer_policy integers = integer_policy::must_be_equal;

    static constexpr std::string_view name = "average";
    static constexpr bool has_mergekit_bits = true;

    class run {
    public:
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            if (stepwise_) return combine_stepwise(b, out);
            sum_.combine(b, out);
            if (is_mean_) restore_equal(b, out);
        }

        /// Rounding to the elements' type absorbs the error of equal elements' sum, unless weights cancel.
        bool combine_raw(const raw_block& b, std::byte* out) const {
            return !stepwise_ && !(is_mean_ && cancels_) && sum_.combine_raw(b, out);
        }

    private:
        friend average;
        run(const std::vector<double>& weights, double divisor, bool is_mean)
            : sum_(weights, divisor), is_mean_(is_mean) {
            double total = 0;
            for (const double w : weights) {
                total += std::fabs(w);
                is_plain_ = is_plain_ && w == 1;
                cancels_ = cancels_ || w == 0; // of an infinity
            }
            cancels_ = cancels_ || total > 4 * std::fabs(divisor);
        }

        template <std::floating_point F>
        void combine_stepwise(const block<F>& b, std::span<double> out) const {
            detail::scratch memory;
            std::vector<std::span<double>> rows;
            double* to = memory.of<double>(b.values.size() * out.size());
            for (const auto& v : b.values) {
                for (std::size_t e = 0; e < v.size(); ++e) to[e] = static_cast<double>(v[e]);
                rows.emplace_back(to, v.size());
                to += v.size();
            }
            stepwise_->combine(rows, std::vector<double>(rows.size(), 1.0), out);
        }

        // The plain mean of floats needs no look: their sum is exact in double.
        template <std::floating_point F>
        void restore_equal(const block<F>& b, std::span<double> sum) const {
            if (std::same_as<F, float> && is_plain_) return;
            for (std::size_t i = 0; i < sum.size(); ++i) {
                const F x = b.values[0][i];
                const auto is_x = [&](const auto& v) { return v[i] == x; };
                if (std::ranges::all_of(b.values, is_x)) sum[i] = static_cast<double>(x);
            }
        }

        detail::linear_combination sum_;
        bool is_mean_;
        bool is_plain_ = true; // without weights
        bool cancels_ = false;
        std::optional<detail::stepwise_sum> stepwise_; // only as mergekit
    };

    run start(const tensor_context& context) const {
        run own = start_exact(context);
        if (context.as_mergekit)
            own.stepwise_.emplace(context.type, ballot::none, normalize ? divisor::weights : divisor::one,
                                  weights.empty() ? std::vector<double>(context.models, 1) : weights, 1);
        return own;
    }

private:
    run start_exact(const tensor_context& context) const {
        if (weights.empty()) return {std::vector<double>(context.models, 1), static_cast<double>(context.models), true};
        if (weights.size() != context.models)
            throw option_error("average has " + std::to_string(weights.size()) + " weights for "
                               + std::to_string(context.models) + " models, expected one per model");
        double sum = 0;
        for (double w : weights) {
            if (!std::isfinite(w))
                throw option_error("a weight of average is " + std::to_string(w) + ", expected a finite number");
            sum += w;
        }
        if (!normalize) return {weights, 1, false};
        if (sum == 0 || !std::isfinite(sum))
            throw option_error("the weights of average sum to " + std::to_string(sum)
                               + ", expected another number than 0; or .normalize = false");
        // An exact factor that keeps products of huge or tiny weights in range.
        const double largest = std::fabs(*std::ranges::max_element(weights, {}, [](double w) { return std::fabs(w); }));
        int exponent = 0;
        std::frexp(largest, &exponent);
        std::vector<double> scaled = weights;
        for (double& w : scaled) w = std::ldexp(w, -exponent);
        return {scaled, std::ldexp(sum, -exponent), true};
    }
};

} // namespace plait
