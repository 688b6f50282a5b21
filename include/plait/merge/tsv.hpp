#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/singular_space.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace plait {

/// Of every task vector the strongest rank / N singular directions, all of them made orthogonal to each other, so that
/// tasks do not interfere. Tensors other than matrices get the mean.
/// Source: Gargiulo et al. 2025 (TSV-Merge).   Complexity: one singular value decomposition per matrix and model.
struct tsv {
    double lambda = 1;

    static constexpr std::string_view name = "tsv";
    static constexpr bool may_refuse_values = true;
    static constexpr bool needs_deltas = true;

    detail::whole_matrix start(const tensor_context& context) const {
        detail::check_finite("lambda of tsv", lambda);
        return {context, lambda, [](const std::vector<detail::matrix>& tasks) {
                    detail::singular_space space(tasks[0].rows, tasks[0].cols);
                    const std::size_t own = std::min(tasks[0].rows, tasks[0].cols) / tasks.size();
                    for (const detail::matrix& task : tasks) space.append(detail::svd(task), own);
                    return space.whitened_product();
                }};
    }
};

} // namespace plait
