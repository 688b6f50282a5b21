#pragma once

#include <plait/merge/composition.hpp>

#include <string_view>
#include <vector>

namespace plait {

/// ties with the trim over all tensors together, as in the paper: a tensor that changed more keeps more.
struct ties_over_model {
    double density = 0.2;
    std::vector<double> weights = {}; ///< empty: all 1
    double lambda = 1;
    divisor divide_by = divisor::count;

    static constexpr std::string_view name = "ties_over_model";
    static constexpr bool needs_deltas = true;
    detail::cuts_run survey(const model_context& models) const { return top_k_over_model{density}.survey(models); }
    auto start(const tensor_context& context, const detail::cuts_run& all) const {
        return composition{top_k_over_model{density}, elect_by_sum{}, sum_of{divide_by}, {weights, lambda}}.start(
            context, all);
    }
};

} // namespace plait
