#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/singular_space.hpp>
#include <plait/merge/whole_matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace plait {

/// Of every task vector the strongest rank / N singular directions, all of them made orthogonal to each other, so that
/// tasks do not interfere. Tensors other than matrices, and matrices of a lower rank than
/// there are models, get the mean.
/// Source: Gargiulo et al. 2025 (TSV-Merge).   Complexity: per matrix one singular value decomposition per model, and
/// two more.
struct tsv {
    double lambda = 1;

    static constexpr std::string_view name = "tsv";
    static constexpr bool may_refuse_values = true;
    static constexpr bool needs_deltas = true;

    detail::whole_matrix start(const tensor_context& context) const {
        detail::check_finite("lambda of tsv", lambda);
        return {context, std::vector<double>(context.models, 1), lambda,
                [](std::span<const matrix_view<const double>> tasks) -> std::optional<detail::matrix> {
                    const std::size_t own = std::min(tasks[0].rows(), tasks[0].cols()) / tasks.size();
                    if (own == 0) return {};
                    detail::singular_space space(tasks[0].rows(), tasks[0].cols());
                    for (const auto& task : tasks) space.append(detail::svd(task), own);
                    return space.whitened_product();
                }};
    }
};

} // namespace plait
