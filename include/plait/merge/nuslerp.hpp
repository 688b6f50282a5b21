#pragma once

#include <plait/merge/slerp.hpp>

#include <string_view>
#include <vector>

namespace plait {

/// slerp at t = w_1 / (w_0 + w_1), half way where the weights sum to 0; with task vectors, of these.   Source:
/// mergekit's nuslerp.
struct nuslerp {
    std::vector<double> weights = {}; ///< empty: equal
    vector_scope scope = vector_scope::tensor;

    static constexpr std::string_view name = "nuslerp";
    static constexpr bool has_mergekit_bits = true;
    detail::gram_combination start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 2);
        const auto w = detail::weights_or_ones(name, weights, 2);
        const double sum = w[0] + w[1];
        const double t = sum == 0 ? 0.5 : w[1] / sum;
        return {context,
                [t, as_mergekit = context.as_mergekit](const detail::gram& g) {
                    return detail::on_arc(g, t, 1 - 1e-14, as_mergekit);
                },
                scope};
    }
};

} // namespace plait
