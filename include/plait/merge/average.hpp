#pragma once

#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

    struct run {
        std::vector<double> weights; ///< empty: all 1
        double divisor;

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            constexpr std::size_t tile = 1024; // sums stay in the nearest cache while the models stream past
            for (std::size_t first = 0; first < out.size(); first += tile)
                combine_tile(b, first, out.subspan(first, std::min(tile, out.size() - first)));
        }

    private:
        friend average;
        run(std::vector<double> w, double d, bool exact) : weights(std::move(w)), divisor(d), keeps_equal_(exact) {}

        template <std::floating_point F>
        void combine_tile(const block<F>& b, std::size_t first, std::span<double> sum) const {
            for (std::size_t k = 0; k < b.values.size(); ++k) {
                const F* x = b.values[k].data() + first;
                if (k == 0 && weights.empty())
                    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<double>(x[i]);
                else if (k == 0)
                    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = weights[0] * static_cast<double>(x[i]);
                else if (weights.empty())
                    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(x[i]);
                else
                    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * static_cast<double>(x[i]);
            }
            // Multiplying is exact for powers of two, and several times faster.
            if (is_power_of_two(divisor))
                for (double& s : sum) s *= 1 / divisor;
            else
                for (double& s : sum) s /= divisor;
            if (keeps_equal_) restore_equal(b, first, sum);
        }

        static bool is_power_of_two(double x) {
            int exponent = 0;
            return std::frexp(x, &exponent) == 0.5 && exponent > -1000 && exponent < 1000;
        }

        // The plain mean of floats needs no look: rounding to float absorbs the error of the double sum. Weights may
        // cancel.
        template <std::floating_point F>
        void restore_equal(const block<F>& b, std::size_t first, std::span<double> sum) const {
            if (std::same_as<F, float> && weights.empty()) return;
            for (std::size_t i = 0; i < sum.size(); ++i) {
                const F x = b.values[0][first + i];
                const auto is_x = [&](const auto& v) { return v[first + i] == x; };
                if (std::ranges::all_of(b.values, is_x)) sum[i] = static_cast<double>(x);
            }
        }

        bool keeps_equal_;
    };

    run start(const tensor_context& context) const {
        if (weights.empty()) return {{}, static_cast<double>(context.models), true};
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
        return {std::move(scaled), std::ldexp(sum, -exponent), true};
    }
};

} // namespace plait
