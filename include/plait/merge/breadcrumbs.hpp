#pragma once

#include <plait/merge/composition.hpp>

#include <string_view>
#include <vector>

namespace plait {

/// Drops the largest magnitudes as outliers, and all but the largest of the rest.   Source: Davari and Belilovsky 2024.
struct breadcrumbs {
    double density = 0.9;
    double gamma = 0.01;              ///< share of the outliers
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::none;

    static constexpr std::string_view name = "breadcrumbs";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{magnitude_band{density, gamma}, no_election{}, sum_of{}, {weights, lambda, rescale}}.start(
            context);
    }
};

/// breadcrumbs, then the election of signs of ties.
struct breadcrumbs_ties {
    double density = 0.9;
    double gamma = 0.01;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    divisor divide_by = divisor::one;
    rescaling rescale = rescaling::none;

    static constexpr std::string_view name = "breadcrumbs_ties";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{
            magnitude_band{density, gamma}, elect_by_sum{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

} // namespace plait
