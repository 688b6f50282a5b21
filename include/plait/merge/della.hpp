#pragma once

#include <plait/merge/composition.hpp>
#include <plait/merge/rank_bernoulli.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

namespace plait {
namespace detail {

template <elector Elector, divisor DefaultDivisor>
struct della_with {
    double density = 0.5;  ///< mean share of elements that is kept
    double epsilon = 0.15; ///< half the range of probabilities
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    divisor divide_by = DefaultDivisor;
    mask_function keep_mask = {};

    static constexpr std::string_view name = std::same_as<Elector, no_election> ? "della_linear" : "della";
    static constexpr bool needs_deltas = true;
    static constexpr bool has_mergekit_bits = true;
    auto start(const tensor_context& context) const {
        const bool own = rescale == rescaling::by_density;
        return composition{rank_bernoulli{density, epsilon, seed, keep_mask, own},
                           Elector{},
                           sum_of{divide_by},
                           {weights, lambda, own ? rescaling::none : rescale}}
            .start(context);
    }
};

} // namespace detail

/// Drops elements at random, small ones rather than large ones, elects a sign and takes the mean of what agrees. The
/// rest makes up for the dropped: each element by its own probability, as in the paper, or by_l1 as in mergekit.
/// Source: Deep, Bhardwaj and Poria 2024.
///     fuse(tuned, task_vectors{base} | della{.density = .4, .epsilon = .1})
using della = detail::della_with<elect_by_sum, divisor::weights>;

/// della without the election: the sum.
using della_linear = detail::della_with<no_election, divisor::one>;

} // namespace plait
