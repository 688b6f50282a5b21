#pragma once

#include <plait/core/error.hpp>
#include <plait/core/matrix_view.hpp>
#include <plait/match/assignment_solver.hpp>
#include <plait/match/magnitude.hpp>
#include <plait/match/matcher.hpp>
#include <plait/match/priced_assignment.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// The exact assignment of least cost.
///
/// Any shape: every row gets a column, or every column a row. Plus infinity forbids a pair. The duals prove the result:
/// `gap` is 0 up to rounding. Called with the assignment of an earlier matrix of the same shape, it keeps what is still
/// right of it, ties included: an unchanged matrix then costs one pass, one that changed in more than half of its rows
/// is solved anew.
///
/// Throws value_error on NaN, on minus infinity, and when no assignment avoids the forbidden pairs; shape_error when
/// the earlier assignment is not of that shape. Complexity: O(min(n, m)^2 max(n, m)) time at worst, a few passes over
/// the matrix for most; O(n + m) memory beside the costs (a transposed copy when n > m, one in double for floats so
/// large that their sums overflow). Same matrix, same assignment; ties go to free columns, then to the lowest index.
/// Sources: Jonker and Volgenant 1987 (column minima, bids, shortest augmenting paths), Bertsekas 1988 (bids with a
/// margin). The candidate lists with bounds and the sharing of units without weights are plait's own.
///     assignment s = hungarian{}(matrix_view<const float>{cost, rows, columns});
struct hungarian {
    assignment operator()(matrix_view<const float> cost) const { return solve(cost, nullptr); }
    assignment operator()(matrix_view<const double> cost) const { return solve(cost, nullptr); }
    assignment operator()(matrix_view<const float> cost, const assignment& previous) const {
        return solve(cost, &previous);
    }
    assignment operator()(matrix_view<const double> cost, const assignment& previous) const {
        return solve(cost, &previous);
    }

private:
    template <std::floating_point T>
    static assignment solve(matrix_view<const T> cost, const assignment* previous) {
        if (previous) check(*previous, cost.rows(), cost.cols());
        if (cost.rows() == 0 || cost.cols() == 0)
            return {.columns = std::vector<std::size_t>(cost.rows(), assignment::unmatched),
                    .row_duals = std::vector<double>(cost.rows()),
                    .column_duals = std::vector<double>(cost.cols())};
        if (std::max(cost.rows(), cost.cols()) >= detail::priced_assignment<T>::none)
            throw value_error("there are " + std::to_string(cost.rows()) + " x " + std::to_string(cost.cols())
                              + " costs, expected less than 2^32 - 1 rows and columns");
        const bool tall = cost.rows() > cost.cols();
        try {
            if (!tall) return solve_wide(cost, previous);
            for (std::size_t i = 0; i < cost.rows(); ++i) {
                // A faulty cost is named before rows and columns change places.
                const auto largest = static_cast<double>(detail::largest_magnitude<T>(cost.row(i)));
                if (!(largest <= detail::largest_cost(cost.rows(), cost.cols()))) {
                    detail::check_costs(cost);
                    break;
                }
            }
            const auto copy = transposed(cost);
            const matrix_view<const T> wide(copy.get(), cost.cols(), cost.rows());
            if (!previous) return transposed(solve_wide(wide, nullptr));
            const assignment turned = transposed(*previous);
            return transposed(solve_wide(wide, &turned));
        } catch (const detail::infeasible& fault) {
            throw value_error("no assignment avoids the forbidden pairs (infinite costs); "
                              + std::string(fault.is_column != tall ? "column " : "row ") + std::to_string(fault.index)
                              + " cannot be matched");
        }
    }

    template <std::floating_point T>
    static assignment solve_wide(matrix_view<const T> cost, const assignment* previous) {
        if (previous) {
            detail::assignment_solver<T> warm(cost);
            if (warm.start_from(*previous) && !warm.may_overflow()) return warm.finish();
        }
        detail::assignment_solver<T> solver(cost);
        solver.start();
        if constexpr (std::same_as<T, float>) {
            if (solver.may_overflow()) {
                const std::vector<double> copy = widened(cost);
                return solve_wide(matrix_view<const double>(copy.data(), cost.rows(), cost.cols()), previous);
            }
        }
        return solver.finish();
    }

    static void check(const assignment& previous, std::size_t rows, std::size_t cols) {
        const auto fail = [](const std::string& fault) { throw shape_error("the earlier assignment " + fault); };
        if (previous.columns.size() != rows || previous.column_duals.size() != cols
            || previous.row_duals.size() != rows)
            fail("has " + std::to_string(previous.columns.size()) + " rows, "
                 + std::to_string(previous.row_duals.size()) + " row duals and "
                 + std::to_string(previous.column_duals.size()) + " column duals, expected " + std::to_string(rows)
                 + " rows and " + std::to_string(cols) + " columns");
        const auto finite = [](double x) { return std::isfinite(x); };
        if (!std::ranges::all_of(previous.row_duals, finite) || !std::ranges::all_of(previous.column_duals, finite))
            fail("has duals that are not finite");
        std::vector<bool> taken(cols);
        std::size_t matched = 0;
        for (std::size_t j : previous.columns) {
            if (j == assignment::unmatched) continue;
            if (j >= cols || taken[j]) fail("has column " + std::to_string(j) + " twice, or no such column");
            taken[j] = true;
            ++matched;
        }
        if (matched != std::min(rows, cols)) fail("leaves rows and columns unmatched");
    }

    template <class T>
    static std::unique_ptr<T[]> transposed(matrix_view<const T> cost) {
        constexpr std::size_t tile = 32;
        const std::size_t rows = cost.rows();
        auto copy = std::make_unique_for_overwrite<T[]>(rows * cost.cols());
        for (std::size_t i = 0; i < rows; i += tile)
            for (std::size_t j = 0; j < cost.cols(); j += tile)
                for (std::size_t x = i; x < std::min(i + tile, rows); ++x)
                    for (std::size_t y = j; y < std::min(j + tile, cost.cols()); ++y) copy[y * rows + x] = cost(x, y);
        return copy;
    }

    static assignment transposed(const assignment& a) {
        assignment t{.columns = std::vector<std::size_t>(a.column_duals.size(), assignment::unmatched),
                     .cost = a.cost,
                     .gap = a.gap,
                     .row_duals = a.column_duals,
                     .column_duals = a.row_duals};
        for (std::size_t i = 0; i < a.columns.size(); ++i)
            if (a.columns[i] != assignment::unmatched) t.columns[a.columns[i]] = i;
        return t;
    }

    static std::vector<double> widened(matrix_view<const float> cost) {
        std::vector<double> copy;
        copy.reserve(cost.rows() * cost.cols());
        for (std::size_t i = 0; i < cost.rows(); ++i)
            for (float c : cost.row(i)) copy.push_back(static_cast<double>(c));
        return copy;
    }
};

} // namespace plait
