#pragma once

#include <plait/merge/check_options.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait {
namespace detail {

/// Whether an element matters to a task: its own change is more than `threshold` times that of all others together.
inline bool is_in_tall_mask(double own, double all, double threshold) {
    return std::fabs(own) > threshold * std::fabs(all - own);
}

template <std::floating_point F>
double sum_at(const block<F>& b, std::size_t e) {
    double sum = 0;
    for (const auto& x : b.values) sum += static_cast<double>(x[e]);
    return sum;
}

} // namespace detail

/// One task's model back out of the sum of all: the sum where it matters to that task, the base elsewhere. Only the
/// sum and one bit per element and task have to be kept.   Source: Wang et al. 2024 (TALL masks).
struct tall_mask {
    std::size_t task = 0;   ///< the position of its model
    double threshold = 0.4; ///< the larger, the fewer elements matter to a task

    static constexpr std::string_view name = "tall_mask";
    static constexpr bool needs_deltas = true;
    struct run {
        std::size_t task;
        double threshold;

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) {
                const double sum = detail::sum_at(b, e);
                const auto own = static_cast<double>(b.values[task][e]);
                out[e] = detail::is_in_tall_mask(own, sum, threshold) ? sum : 0;
            }
        }
    };
    run start(const tensor_context& context) const {
        if (task >= context.models)
            throw option_error("task of tall_mask is " + std::to_string(task) + ", expected a number below the "
                               + std::to_string(context.models) + " models");
        detail::check_not_negative("threshold of tall_mask", threshold);
        return {task, threshold};
    }
};

} // namespace plait
