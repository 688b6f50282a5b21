#pragma once

#include <plait/linalg/svd.hpp>
#include <plait/merge/check_options.hpp>
#include <plait/merge/singular_space.hpp>
#include <plait/merge/whole_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// The sum of the task vectors with all its singular values made equal to their mean, so that no task's directions
/// outweigh the others'. With `common_space` below 1 only that share of the directions is taken from the sum; the
/// others are the strongest that each task has outside of them. Tensors other than matrices get the mean.
/// Source: Marczak et al. 2025 (Iso-C, Iso-CTS).   Complexity: one singular value decomposition per matrix; with
/// common_space below 1 two more, and one per model.
struct isotropic {
    double common_space = 1;
    double lambda = 1;

    static constexpr std::string_view name = "isotropic";
    static constexpr bool may_refuse_values = true;
    static constexpr bool needs_deltas = true;

    detail::whole_matrix start(const tensor_context& context) const {
        detail::check_share("common_space of isotropic", common_space);
        detail::check_finite("lambda of isotropic", lambda);
        return {
            context, std::vector<double>(context.models, 1), lambda,
            [share = common_space](std::span<const matrix_view<const double>> tasks) { return merged(tasks, share); }};
    }

private:
    static detail::matrix merged(std::span<const matrix_view<const double>> tasks, double share) {
        detail::matrix sum(tasks[0].rows(), tasks[0].cols());
        for (const auto& task : tasks)
            for (std::size_t e = 0; e < sum.data.size(); ++e) sum.data[e] += task.data()[e];
        const std::size_t rank = std::min(sum.rows, sum.cols);
        const auto wanted = static_cast<double>(rank - static_cast<std::size_t>(share * static_cast<double>(rank)));
        // As many directions for every task: to the nearest number, of two the even one.
        const double per_task = std::nearbyint(wanted / static_cast<double>(tasks.size()));
        const std::size_t own = std::min(static_cast<std::size_t>(per_task), rank / tasks.size());
        const std::size_t common = rank - own * tasks.size();

        detail::singular_space space(sum.rows, sum.cols);
        const detail::singular_values whole = detail::svd(std::as_const(sum).view());
        space.append(whole, common);
        for (const auto& task : tasks) {
            if (own == 0) break;
            const detail::matrix rest = outside(whole, common, task);
            space.append(detail::svd(rest.view()), own);
        }
        space.equalize();
        return own > 0 ? space.whitened_product() : space.product();
    }

    // A task's matrix without what lies in the first `common` left directions.
    static detail::matrix outside(const detail::singular_values& whole, std::size_t common,
                                  matrix_view<const double> task) {
        detail::matrix u(task.rows(), common);
        for (std::size_t i = 0; i < u.rows; ++i)
            for (std::size_t j = 0; j < common; ++j) u(i, j) = whole.u(i, j);
        detail::matrix inside(common, task.cols());
        multiply_add<double>(op::transposed, std::as_const(u).view(), op::plain, task, inside.view());
        for (double& x : inside.data) x = -x;
        detail::matrix rest(task.rows(), task.cols());
        std::copy_n(task.data(), rest.data.size(), rest.data.data());
        multiply_add<double>(op::plain, std::as_const(u).view(), op::plain, std::as_const(inside).view(), rest.view());
        return rest;
    }
};

} // namespace plait
