#pragma once

#include <plait/merge/composition.hpp>

#include <cstdint>
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
    auto start(const tensor_context& context) const {
        return composition{keep_all{}, no_election{}, sum_of{divide_by}, {weights, lambda}}.start(context);
    }
};

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
    auto start(const tensor_context& context) const {
        return composition{top_k_by_magnitude{density}, elect_by_sum{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

/// Drops elements at random and scales up the rest: by 1 / density as in the paper, or by_l1 as mergekit does.
/// Source: Yu et al. 2024.
struct dare {
    double density = 0.5;
    std::uint64_t seed = 0;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    rescaling rescale = rescaling::by_density;
    decltype(bernoulli::keep_mask) keep_mask = {};

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
    decltype(bernoulli::keep_mask) keep_mask = {};

    static constexpr std::string_view name = "dare_ties";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{
            bernoulli{density, seed, keep_mask}, elect_by_sum{}, sum_of{divide_by}, {weights, lambda, rescale}}
            .start(context);
    }
};

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

/// Per element the task vector of the largest magnitude, of equal ones the last.   Source: Marczak et al. 2024.
struct magmax {
    double lambda = 0.5;

    static constexpr std::string_view name = "magmax";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{keep_all{}, no_election{}, largest_of{}, {.lambda = lambda}}.start(context);
    }
};

/// Per element the mean of the task vectors that changed it by more than epsilon.   Source: mergekit's ram.
struct ram {
    double epsilon = 1e-5;

    static constexpr std::string_view name = "ram";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{above{epsilon}, no_election{}, sum_of{divisor::count}}.start(context);
    }
};

} // namespace plait
