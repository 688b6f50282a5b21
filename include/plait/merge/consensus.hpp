#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/tall_mask.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait {
/// The sum of the task vectors where it matters to at least k tasks: elements that serve one task alone, or none, stay
/// at the base.   Source: Wang et al. 2024 (TALL masks), Consensus TA.
struct consensus {
    std::size_t k = 2;
    double threshold = 0.4; ///< the larger, the fewer elements matter to a task
    double lambda = 1;

    static constexpr std::string_view name = "consensus";
    static constexpr bool needs_deltas = true;
    struct run {
        std::size_t k;
        double threshold, lambda;

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) {
                const double sum = detail::sum_at(b, e);
                std::size_t tasks = 0;
                for (const auto& x : b.values)
                    tasks += detail::is_in_tall_mask(static_cast<double>(x[e]), sum, threshold);
                out[e] = tasks >= k ? lambda * sum : 0;
            }
        }
    };
    run start(const tensor_context& context) const {
        if (k > context.models)
            throw option_error("k of consensus is " + std::to_string(k) + ", expected at most the "
                               + std::to_string(context.models) + " models");
        detail::check_not_negative("threshold of consensus", threshold);
        detail::check_finite("lambda of consensus", lambda);
        return {k, threshold, lambda};
    }
};

} // namespace plait
