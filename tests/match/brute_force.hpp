#pragma once

#include <plait/match/matcher.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

/// The least cost over all assignments, by trying each: the oracle for small matrices. Infinite when all are forbidden.
template <class T>
double least_cost(plait::matrix_view<const T> cost) {
    const bool by_row = cost.rows() <= cost.cols();
    const std::size_t few = std::min(cost.rows(), cost.cols());
    std::vector<bool> taken(std::max(cost.rows(), cost.cols()));
    const auto search = [&](const auto& self, std::size_t i) -> double {
        if (i == few) return 0;
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < taken.size(); ++j) {
            if (taken[j]) continue;
            taken[j] = true;
            best = std::min(best, static_cast<double>(by_row ? cost(i, j) : cost(j, i)) + self(self, i + 1));
            taken[j] = false;
        }
        return best;
    };
    return search(search, 0);
}

/// Whether every row has a column, or every column a row, none twice.
template <class T>
bool is_assignment(const plait::assignment& a, plait::matrix_view<const T> cost) {
    if (a.columns.size() != cost.rows()) return false;
    std::vector<bool> taken(cost.cols());
    std::size_t matched = 0;
    for (std::size_t j : a.columns) {
        if (j == plait::assignment::unmatched) continue;
        if (j >= cost.cols() || taken[j]) return false;
        taken[j] = true;
        ++matched;
    }
    return matched == std::min(cost.rows(), cost.cols());
}

template <class T>
double cost_of(const plait::assignment& a, plait::matrix_view<const T> cost) {
    double sum = 0;
    for (std::size_t i = 0; i < a.columns.size(); ++i)
        if (a.columns[i] != plait::assignment::unmatched) sum += static_cast<double>(cost(i, a.columns[i]));
    return sum;
}

/// How far the duals are from proving `bound = sum of duals` a lower bound of every assignment's cost: the largest
/// u[i] + v[j] - c(i, j), or positive dual of a side that may stay free.
template <class T>
double dual_violation(const plait::assignment& a, plait::matrix_view<const T> cost) {
    double worst = 0;
    for (std::size_t i = 0; i < cost.rows(); ++i)
        for (std::size_t j = 0; j < cost.cols(); ++j)
            worst = std::max(worst, a.row_duals[i] + a.column_duals[j] - static_cast<double>(cost(i, j)));
    for (double v : cost.rows() < cost.cols() ? a.column_duals : std::vector<double>{}) worst = std::max(worst, v);
    for (double u : cost.rows() > cost.cols() ? a.row_duals : std::vector<double>{}) worst = std::max(worst, u);
    return worst;
}
