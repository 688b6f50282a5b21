#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/gram_combination.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace plait {

/// From the base towards the mean of the task vectors, the further the more they agree: by N c / (1 + (N - 1) c), c the
/// mean cosine of all pairs, per tensor. Task vectors that cancel, where the denominator vanishes, leave the base; a
/// negative c leads away from the mean, as published.
/// Source: Jang, Yun and Han 2024.
struct model_stock {
    vector_scope scope = vector_scope::tensor;

    static constexpr std::string_view name = "model_stock";
    static constexpr bool needs_deltas = true;
    static constexpr bool has_mergekit_bits = true;

    detail::gram_combination start(const tensor_context& context) const {
        if (context.models < 2) throw option_error("model_stock is given 1 model beside the base, expected 2 or more");
        return {context,
                [as_mergekit = context.as_mergekit](const detail::gram& g) {
                    const auto n = static_cast<double>(g.models());
                    double sum = 0;
                    for (std::size_t i = 0; i < g.models(); ++i)
                        for (std::size_t j = 0; j < i; ++j)
                            sum += as_mergekit ? g(i, j) / std::max(g.norm(i) * g.norm(j), 1e-6) : g.cosine(i, j);
                    const double cosine = sum / (n * (n - 1) / 2);
                    const double denominator = 1 + (n - 1) * cosine;
                    const double share = as_mergekit || denominator > 1e-9 ? n * cosine / denominator : 0;
                    return std::vector<double>(g.models(), share / n);
                },
                scope};
    }
};

} // namespace plait
