#pragma once

#include <plait/merge/composition.hpp>
#include <plait/merge/rank_bernoulli.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace plait {

/// Drops elements at random, small ones rather than large ones, elects a sign and takes the mean of what agrees. The
/// rest makes up for the dropped: each element by its own probability, as in the paper, or by_l1 as in mergekit.
/// Source: Deep, Bhardwaj and Poria 2024.
struct della {
    double density = 0.5;
    double epsilon = 0.15; ///< half the range of probabilities
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    divisor divide_by = divisor::weights;
    mask_function keep_mask = {};

    static constexpr std::string_view name = "della";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        const bool own = rescale == rescaling::by_density;
        return composition{rank_bernoulli{density, epsilon, seed, keep_mask, own},
                           elect_by_sum{},
                           sum_of{divide_by},
                           {weights, lambda, own ? rescaling::none : rescale}}
            .start(context);
    }
};

/// della without the election: the sum.
struct della_linear {
    double density = 0.5;
    double epsilon = 0.15; ///< half the range of probabilities
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    mask_function keep_mask = {};

    static constexpr std::string_view name = "della_linear";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        const bool own = rescale == rescaling::by_density;
        return composition{rank_bernoulli{density, epsilon, seed, keep_mask, own},
                           no_election{},
                           sum_of{},
                           {weights, lambda, own ? rescaling::none : rescale}}
            .start(context);
    }
};

} // namespace plait
