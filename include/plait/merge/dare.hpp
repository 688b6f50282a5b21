#pragma once

#include <plait/merge/composition.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace plait {

/// Drops elements at random and scales up the rest: by 1 / density as in the paper, or by_l1 as mergekit does.
/// Source: Yu et al. 2024.
struct dare {
    double density = 0.5;
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    mask_function keep_mask = {};

    static constexpr std::string_view name = "dare";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{bernoulli{density, seed, keep_mask}, no_election{}, sum_of{}, {weights, lambda, rescale}}
            .start(context);
    }
};

/// dare, then the election of signs of ties.
struct dare_ties {
    double density = 0.5;
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    divisor divide_by = divisor::one;
    mask_function keep_mask = {};

    static constexpr std::string_view name = "dare_ties";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{
            bernoulli{density, seed, keep_mask}, elect_by_sum{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

} // namespace plait
