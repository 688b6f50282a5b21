#pragma once

#include <plait/match/matcher.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

namespace plait {

/// Takes the cheapest free pair, again and again: fast, and not the optimum. A dual bound comes with every result, so
/// `gap` says how far from the optimum it can be at most.
///
/// Throws value_error on NaN, on minus infinity, and when only forbidden pairs (plus infinity) are left.
/// Complexity: O(n m) memory reads when rows rarely compete for a column, O(n^2 m) at worst; O(n + m) memory.
struct greedy {
    assignment operator()(matrix_view<const float> cost) const { return solve(cost); }
    assignment operator()(matrix_view<const double> cost) const { return solve(cost); }

private:
    template <std::floating_point T>
    static assignment solve(matrix_view<const T> cost) {
        detail::check_costs(cost);
        using pair = std::tuple<T, std::size_t, std::size_t>; // cost, row, column
        std::vector<bool> taken(cost.cols());
        const auto cheapest_free = [&](std::size_t i) {
            pair best{std::numeric_limits<T>::infinity(), i, assignment::unmatched};
            for (std::size_t j = 0; j < cost.cols(); ++j)
                if (!taken[j] && cost(i, j) < std::get<0>(best)) best = {cost(i, j), i, j};
            return best;
        };

        assignment a{.columns = std::vector<std::size_t>(cost.rows(), assignment::unmatched)};
        std::priority_queue<pair, std::vector<pair>, std::greater<>> queue;
        if (cost.cols() > 0)
            for (std::size_t i = 0; i < cost.rows(); ++i) queue.push(cheapest_free(i));
        const std::size_t wanted = std::min(cost.rows(), cost.cols());
        for (std::size_t matched = 0; matched < wanted;) {
            const auto [c, row, column] = queue.top();
            queue.pop();
            if (column == assignment::unmatched)
                throw value_error("greedy is left with forbidden pairs (infinite costs) alone for row "
                                  + std::to_string(row) + "; another matcher may find a way");
            if (taken[column]) {
                queue.push(cheapest_free(row));
                continue;
            }
            taken[column] = true;
            a.columns[row] = column;
            a.cost += static_cast<double>(c);
            ++matched;
        }
        add_bound(cost, a);
        return a;
    }

    // Row minima when every row is matched, column minima when every column is: a bound of any assignment.
    template <std::floating_point T>
    static void add_bound(matrix_view<const T> cost, assignment& a) {
        a.row_duals.assign(cost.rows(), 0);
        a.column_duals.assign(cost.cols(), 0);
        if (cost.rows() == 0 || cost.cols() == 0) return;
        const bool by_row = cost.rows() <= cost.cols();
        std::vector<double>& duals = by_row ? a.row_duals : a.column_duals;
        std::ranges::fill(duals, std::numeric_limits<double>::infinity());
        for (std::size_t i = 0; i < cost.rows(); ++i) {
            for (std::size_t j = 0; j < cost.cols(); ++j) {
                double& least = duals[by_row ? i : j];
                least = std::min(least, static_cast<double>(cost(i, j)));
            }
        }
        a.gap = a.cost;
        for (double d : duals) a.gap -= d;
    }
};

} // namespace plait
