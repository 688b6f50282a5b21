#pragma once

#include <plait/merge/composition.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

namespace plait {
namespace detail {

template <elector Elector>
struct dare_with {
    double density = 0.5; ///< share of elements that is kept
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    divisor divide_by = divisor::one;
    mask_function keep_mask = {};

    static constexpr std::string_view name = std::same_as<Elector, no_election> ? "dare" : "dare_ties";
    static constexpr bool needs_deltas = true;
    static constexpr bool has_mergekit_bits = true;
    auto start(const tensor_context& context) const {
        return composition{
            bernoulli{density, seed, keep_mask}, Elector{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

} // namespace detail

/// Drops elements at random, scales up the rest and adds up: by 1 / density as in the paper, or by_l1 as mergekit does.
/// Source: Yu et al. 2024.
///     fuse(tuned, task_vectors{base} | dare{.density = .3, .seed = 7})
using dare = detail::dare_with<no_election>;

/// dare, then the election of signs of ties: the sum of what agrees.
using dare_ties = detail::dare_with<elect_by_sum>;

} // namespace plait
