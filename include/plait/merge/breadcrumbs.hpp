#pragma once

#include <plait/merge/composition.hpp>

#include <concepts>
#include <string_view>
#include <vector>

namespace plait {
namespace detail {

template <elector Elector>
struct breadcrumbs_with {
    double density = 0.9;             ///< share of elements that is kept
    double gamma = 0.01;              ///< share of the outliers
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    divisor divide_by = divisor::one;
    rescaling rescale = rescaling::none;

    static constexpr std::string_view name = std::same_as<Elector, no_election> ? "breadcrumbs" : "breadcrumbs_ties";
    static constexpr bool needs_deltas = true;
    static constexpr bool has_mergekit_bits = true;
    auto start(const tensor_context& context) const {
        return composition{magnitude_band{density, gamma}, Elector{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

} // namespace detail

/// Drops the largest magnitudes as outliers, and all but the largest of the rest; adds up.
/// Source: Davari and Belilovsky 2024.
///     fuse(tuned, task_vectors{base} | breadcrumbs{.density = .5})
using breadcrumbs = detail::breadcrumbs_with<no_election>;

/// breadcrumbs, then the election of signs of ties: the sum of what agrees.
using breadcrumbs_ties = detail::breadcrumbs_with<elect_by_sum>;

} // namespace plait
