#pragma once

#include <plait/match/matcher.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// Shortest augmenting paths for rows <= columns. Duals and distances are double whatever the costs are.
template <std::floating_point T>
class augmenting_paths {
public:
    explicit augmenting_paths(matrix_view<const T> cost)
        : cost_(cost),
          row_duals_(cost.rows()),
          column_duals_(cost.cols()),
          column_of_(cost.rows(), assignment::unmatched),
          row_of_(cost.cols(), assignment::unmatched),
          distance_(cost.cols()),
          previous_row_(cost.cols()) {}

    assignment solve() {
        match_row_minima();
        for (std::size_t i = 0; i < cost_.rows(); ++i)
            if (column_of_[i] == assignment::unmatched) augment(i);
        return result();
    }

private:
    // u = row minima and v = 0 are feasible; rows whose minimum is free are matched at once.
    void match_row_minima() {
        for (std::size_t i = 0; i < cost_.rows(); ++i) {
            const auto row = cost_.row(i);
            const T smallest = *std::ranges::min_element(row);
            if (smallest == std::numeric_limits<T>::infinity()) throw_infeasible(i);
            row_duals_[i] = smallest;
            for (std::size_t j = 0; j < row.size(); ++j) {
                if (row[j] == smallest && row_of_[j] == assignment::unmatched) {
                    match(i, j);
                    break;
                }
            }
        }
    }

    void match(std::size_t row, std::size_t column) {
        column_of_[row] = column;
        row_of_[column] = row;
    }

    // Dijkstra over reduced costs from a free row to the nearest free column.
    void augment(std::size_t start) {
        open_.resize(cost_.cols());
        std::iota(open_.begin(), open_.end(), std::size_t{0});
        closed_.clear();
        std::ranges::fill(distance_, std::numeric_limits<double>::infinity());
        std::size_t row = start;
        double reached = 0;
        std::size_t column = assignment::unmatched;
        for (;;) {
            const std::size_t nearest = relax(row, reached);
            column = open_[nearest];
            if (distance_[column] == std::numeric_limits<double>::infinity()) throw_infeasible(start);
            reached = distance_[column];
            if (row_of_[column] == assignment::unmatched) break;
            row = row_of_[column];
            open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(nearest)); // keeps the columns in order
            closed_.push_back(column);
        }
        row_duals_[start] += reached;
        for (std::size_t j : closed_) {
            row_duals_[row_of_[j]] += reached - distance_[j];
            column_duals_[j] -= reached - distance_[j];
        }
        for (std::size_t i = assignment::unmatched; i != start;) {
            i = previous_row_[column];
            row_of_[column] = i;
            std::swap(column_of_[i], column);
        }
    }

    // Shortens the way to every open column through `row`; the position of the nearest, a free one if there is a
    // choice.
    std::size_t relax(std::size_t row, double reached) {
        const T* costs = cost_.row(row).data();
        const double base = reached - row_duals_[row];
        double least = std::numeric_limits<double>::infinity();
        std::size_t nearest = 0;
        bool nearest_is_free = false;
        for (std::size_t k = 0; k < open_.size(); ++k) {
            const std::size_t j = open_[k];
            const double d = base + (static_cast<double>(costs[j]) - column_duals_[j]);
            if (d < distance_[j]) {
                distance_[j] = d;
                previous_row_[j] = row;
            }
            if (distance_[j] <= least) {
                const bool is_free = row_of_[j] == assignment::unmatched;
                if (distance_[j] < least || (is_free && !nearest_is_free)) {
                    least = distance_[j];
                    nearest = k;
                    nearest_is_free = is_free;
                }
            }
        }
        return nearest;
    }

    assignment result() {
        assignment a{.columns = std::move(column_of_)};
        double bound = 0;
        for (std::size_t i = 0; i < a.columns.size(); ++i) {
            a.cost += static_cast<double>(cost_(i, a.columns[i]));
            bound += row_duals_[i];
        }
        for (double v : column_duals_) bound += v; // 0 where a column stays free
        a.gap = a.cost - bound;
        a.row_duals = std::move(row_duals_);
        a.column_duals = std::move(column_duals_);
        return a;
    }

    matrix_view<const T> cost_;
    std::vector<double> row_duals_;
    std::vector<double> column_duals_;
    std::vector<std::size_t> column_of_;
    std::vector<std::size_t> row_of_;
    std::vector<double> distance_;
    std::vector<std::size_t> previous_row_;
    std::vector<std::size_t> open_; // columns whose distance is not final
    std::vector<std::size_t> closed_;
};

} // namespace detail

/// The exact assignment of least cost.
///
/// Any shape: every row gets a column, or every column a row. Plus infinity forbids a pair. The duals prove the result.
/// Throws value_error on NaN, on minus infinity, and when no assignment avoids the forbidden pairs.
/// Complexity: O(min(n, m)^2 max(n, m)) time, O(n + m) memory beside the costs (a transposed copy when n > m).
/// Source: Jonker and Volgenant 1987 (shortest augmenting paths).
///     assignment s = hungarian{}(matrix_view<const float>{cost, rows, columns});
struct hungarian {
    assignment operator()(matrix_view<const float> cost) const { return solve(cost); }
    assignment operator()(matrix_view<const double> cost) const { return solve(cost); }

private:
    template <class T>
    static assignment solve(matrix_view<const T> cost) {
        detail::check_costs(cost);
        if (cost.rows() == 0 || cost.cols() == 0)
            return {.columns = std::vector<std::size_t>(cost.rows(), assignment::unmatched),
                    .row_duals = std::vector<double>(cost.rows()),
                    .column_duals = std::vector<double>(cost.cols())};
        if (cost.rows() <= cost.cols()) return detail::augmenting_paths<T>(cost).solve();

        std::vector<T> transposed(cost.rows() * cost.cols());
        for (std::size_t i = 0; i < cost.rows(); ++i)
            for (std::size_t j = 0; j < cost.cols(); ++j) transposed[j * cost.rows() + i] = cost(i, j);
        const matrix_view<const T> wide(transposed.data(), cost.cols(), cost.rows());
        assignment a = detail::augmenting_paths<T>(wide).solve();
        std::vector<std::size_t> columns(cost.rows(), assignment::unmatched);
        for (std::size_t j = 0; j < a.columns.size(); ++j) columns[a.columns[j]] = j;
        a.columns = std::move(columns);
        std::swap(a.row_duals, a.column_duals);
        return a;
    }
};

} // namespace plait
