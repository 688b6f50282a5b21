#pragma once

#include <plait/merge/composition.hpp>

#include <string_view>
#include <vector>

namespace plait {

/// The weighted sum of the task vectors.   Source: Ilharco et al. 2023.
///     fuse(tuned, task_vectors{base} | task_arithmetic{.lambda = .3})
struct task_arithmetic {
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    divisor divide_by = divisor::one; ///< divisor::weights: their mean

    static constexpr std::string_view name = "task_arithmetic";
    static constexpr bool needs_deltas = true;
    static constexpr bool has_mergekit_bits = true;
    auto start(const tensor_context& context) const {
        return composition{keep_all{}, no_election{}, sum_of{divide_by}, {weights, lambda}}.start(context);
    }
};

} // namespace plait
