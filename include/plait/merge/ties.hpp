#pragma once

#include <plait/merge/composition.hpp>

#include <string_view>
#include <vector>

namespace plait {

/// Trim, elect a sign, and take the mean of what agrees: by weights that take part in the election, or as in the paper
/// by count. The trim is per tensor.   Source: Yadav et al. 2023.
struct ties {
    double density = 0.2;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    divisor divide_by = divisor::weights;
    rescaling rescale = rescaling::none;

    static constexpr std::string_view name = "ties";
    static constexpr bool needs_deltas = true;
    static constexpr bool has_mergekit_bits = true;
    auto start(const tensor_context& context) const {
        return composition{top_k_by_magnitude{density}, elect_by_sum{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

} // namespace plait
