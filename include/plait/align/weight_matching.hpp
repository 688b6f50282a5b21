#pragma once

#include <plait/align/alignment.hpp>
#include <plait/align/weight_matching_options.hpp>
#include <plait/align/weight_search.hpp>
#include <plait/core/parallel.hpp>
#include <plait/match/hungarian.hpp>
#include <plait/match/matcher.hpp>
#include <plait/merge/describe.hpp>
#include <plait/spec/permutation_spec.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// Aligns models by matching the weights that touch each unit group.
///
/// Coordinate descent on sum <anchor, P model>: for one group at a time, build the products of every pair of units from
/// all tensors that carry the group, solve the assignment, keep it if it gains; repeat until no group changes. Every
/// model is matched to the anchor: the first model, or the base of task_vectors. f16 and bf16 are widened to float;
/// with any f64 tensor everything is computed in double. Source: Ainsworth et al. 2023, Algorithm 1; the anchored start
/// and the strict gains are plait's own. Throws spec_error, shape_error, option_error before any work; value_error on
/// NaN and infinite weights. Not converging within max_sweeps is a field of the report. Complexity: per sweep one GEMM
/// per (tensor, permuted axis) and one assignment per group. Same input, same result, whatever the threads; ties go to
/// the lowest index.
///     model m = fuse({a, b}, weight_matching{spec} | average{});
template <matcher M = hungarian>
class weight_matching {
public:
    using part = alignment_part;

    weight_matching(permutation_spec spec, M solve = {}, weight_matching_options options = {})
        : spec_(std::move(spec)), solve_(std::move(solve)), options_(options) {
        detail::check(options_);
    }
    weight_matching(permutation_spec spec, weight_matching_options options) requires std::default_initializable<M>
        : weight_matching(std::move(spec), M{}, options) {}

    const permutation_spec& spec() const { return spec_; }
    const weight_matching_options& options() const { return options_; }

    std::string describe() const {
        return "weight_matching{" + plait::describe(spec_.tensor_rules()) + ", " + plait::describe(spec_.fixed_rules())
               + ", " + plait::describe(spec_.units_rules()) + ", " + plait::describe(spec_.size_rules()) + ", "
               + plait::describe(solve_) + ", " + plait::describe(options_) + "}";
    }

    /// `anchor` null: the first model is the anchor.
    alignment align(const model_view* anchor, std::span<const model_view> models, const run_options& run) const {
        return detail::weight_search(spec_, options_, assign_floats(), assign_doubles()).align(anchor, models, run);
    }

private:
    // The matcher, starting from its earlier assignment if it can.
    template <std::floating_point F>
    assignment match(matrix_view<const F> costs, const assignment* previous) const {
        if constexpr (warm_matcher<M> && requires { solve_(costs, *previous); }) // of this type
            if (previous) return solve_(costs, *previous);
        return solve_(costs);
    }

    detail::assign_function<float> assign_floats() const {
        return [this](matrix_view<const float> costs, const assignment* previous) { return match(costs, previous); };
    }

    // A matcher of floats is given rounded costs.
    detail::assign_function<double> assign_doubles() const {
        return [this](matrix_view<const double> costs, const assignment* previous) {
            if constexpr (requires { solve_(costs); }) {
                return match(costs, previous);
            } else {
                std::vector<float> narrow;
                for (std::size_t i = 0; i < costs.rows(); ++i)
                    for (double c : costs.row(i)) narrow.push_back(static_cast<float>(c));
                if (!std::ranges::all_of(narrow, [](float c) { return std::isfinite(c); }))
                    throw value_error("a cost is too large for a matcher of floats");
                return match(matrix_view<const float>(narrow.data(), costs.rows(), costs.cols()), previous);
            }
        };
    }

    permutation_spec spec_;
    [[no_unique_address]] M solve_;
    weight_matching_options options_;
};

} // namespace plait
