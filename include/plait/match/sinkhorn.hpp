#pragma once

#include <plait/core/error.hpp>
#include <plait/core/matrix_view.hpp>
#include <plait/match/matcher.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace plait {

/// How much of every row goes to every column.
struct transport {
    std::vector<double> plan = {}; ///< rows x columns, row-major; rows sum to the row masses
    double cost = 0;               ///< sum of plan times costs
    double error = 0;              ///< sum of |column sums - column masses|, of a total mass of 1
    int iterations = 0;
    bool converged = false;
};

/// Entropic optimal transport: soft matching, also between unequal numbers of units.
///
/// Minimises sum P C - r H(P) over plans P with the given row and column sums, where H is the entropy. As r falls to 0
/// the plan approaches an optimal assignment and takes more iterations. Logarithms are kept throughout, so that nothing
/// overflows at any regularization. Plus infinity forbids a pair.
///
/// Throws option_error on bad options and masses; value_error on NaN, on minus infinity, on costs whose sums may
/// overflow a double, and on a row or column with forbidden pairs alone. Not converging is a field of the result.
/// Complexity: O(n m) exponentials per iteration, O(n m) memory. Sources: Cuturi 2013; Peyre and Cuturi 2019,
/// section 4.4 (logarithmic domain).
///     transport t = sinkhorn{.regularization = 0.05}(matrix_view<const float>{cost, rows, columns});
struct sinkhorn {
    double regularization = 0.1; ///< more than 0: r in standard deviations of the costs that are not forbidden
    int max_iterations = 1000;
    double tolerance = 1e-6; ///< of transport::error

    /// Equal masses: 1 / n for each row, 1 / m for each column.
    transport operator()(matrix_view<const float> cost) const { return solve(cost, {}, {}); }
    transport operator()(matrix_view<const double> cost) const { return solve(cost, {}, {}); }

    /// Masses are not negative, of any equal sum up to rounding, and are divided by it.
    transport operator()(matrix_view<const float> cost, std::span<const double> rows,
                         std::span<const double> columns) const {
        return solve(cost, masses(rows, cost.rows(), "row"), masses(columns, cost.cols(), "column"));
    }
    transport operator()(matrix_view<const double> cost, std::span<const double> rows,
                         std::span<const double> columns) const {
        return solve(cost, masses(rows, cost.rows(), "row"), masses(columns, cost.cols(), "column"));
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static std::vector<double> masses(std::span<const double> given, std::size_t count, const std::string& side) {
        if (given.size() != count)
            throw option_error("there are " + std::to_string(given.size()) + " " + side + " masses, expected "
                               + std::to_string(count));
        double sum = 0;
        for (double m : given) {
            if (!(m >= 0) || !std::isfinite(m))
                throw option_error("a " + side + " mass is " + std::to_string(m) + ", expected 0 or more");
            sum += m;
        }
        if (count > 0 && !(sum > 0 && std::isfinite(sum)))
            throw option_error("the " + side + " masses sum to " + std::to_string(sum)
                               + ", expected a finite number above 0");
        std::vector<double> shares(given.begin(), given.end());
        for (double& m : shares) m /= sum;
        return shares;
    }

    void check_options() const {
        if (!(regularization > 0) || !std::isfinite(regularization))
            throw option_error("regularization is " + std::to_string(regularization) + ", expected more than 0");
        if (max_iterations < 1)
            throw option_error("max_iterations is " + std::to_string(max_iterations) + ", expected 1 or more");
        if (!(tolerance >= 0)) throw option_error("tolerance is " + std::to_string(tolerance) + ", expected 0 or more");
    }

    template <std::floating_point T>
    transport solve(matrix_view<const T> cost, std::vector<double> rows, std::vector<double> columns) const {
        check_options();
        const double scale = static_cast<double>(detail::check_costs(cost));
        const std::size_t n = cost.rows();
        const std::size_t m = cost.cols();
        if (n == 0 || m == 0) return {.converged = true};
        if (rows.empty()) rows.assign(n, 1 / static_cast<double>(n));
        if (columns.empty()) columns.assign(m, 1 / static_cast<double>(m));
        check_ways(cost, rows, columns);

        if (scale > 1e280)
            throw value_error("a cost has magnitude " + std::to_string(scale) + ", expected at most 1e280");
        // Beyond these limits the plan does not change any more: only the nearest pairs, or all alike.
        const double r = std::clamp(regularization * spread(cost, scale), std::numeric_limits<double>::min(), 1e290);
        std::vector<double> row_potentials(n);
        std::vector<double> column_potentials(m);
        std::vector<double> largest(m);
        std::vector<double> sums(m);
        transport t{.plan = std::vector<double>(n * m)};
        for (;;) {
            ++t.iterations;
            for (std::size_t i = 0; i < n; ++i) {
                if (rows[i] == 0) continue;
                const auto exponent = [&](std::size_t j) {
                    return column_potentials[j] - static_cast<double>(cost(i, j));
                };
                double most = -infinity;
                for (std::size_t j = 0; j < m; ++j)
                    if (columns[j] > 0) most = std::max(most, exponent(j));
                double sum = 0;
                double* plan = t.plan.data() + i * m;
                for (std::size_t j = 0; j < m; ++j) {
                    plan[j] = columns[j] > 0 ? columns[j] * std::exp((exponent(j) - most) / r) : 0;
                    sum += plan[j];
                }
                for (std::size_t j = 0; j < m; ++j) plan[j] *= rows[i] / sum;
                row_potentials[i] = -most - r * std::log(sum);
            }
            measure(t, columns);
            if (t.converged || t.iterations == max_iterations) break;
            update_columns(cost, rows, row_potentials, r, largest, sums, column_potentials);
        }
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < m; ++j)
                if (t.plan[i * m + j] > 0) t.cost += t.plan[i * m + j] * static_cast<double>(cost(i, j));
        return t;
    }

    // Column potentials from row potentials, reading rows: g[j] = -r log sum_i a[i] exp((f[i] - c(i, j)) / r).
    template <std::floating_point T>
    static void update_columns(matrix_view<const T> cost, const std::vector<double>& rows, const std::vector<double>& f,
                               double r, std::vector<double>& largest, std::vector<double>& sums,
                               std::vector<double>& g) {
        std::ranges::fill(largest, -infinity);
        std::ranges::fill(sums, 0.0);
        for (std::size_t i = 0; i < cost.rows(); ++i)
            if (rows[i] > 0)
                for (std::size_t j = 0; j < cost.cols(); ++j)
                    largest[j] = std::max(largest[j], f[i] - static_cast<double>(cost(i, j)));
        for (std::size_t i = 0; i < cost.rows(); ++i)
            if (rows[i] > 0)
                for (std::size_t j = 0; j < cost.cols(); ++j)
                    if (cost(i, j) < std::numeric_limits<T>::infinity())
                        sums[j] += rows[i] * std::exp((f[i] - static_cast<double>(cost(i, j)) - largest[j]) / r);
        for (std::size_t j = 0; j < cost.cols(); ++j)
            g[j] = largest[j] > -infinity ? -largest[j] - r * std::log(sums[j]) : 0;
    }

    void measure(transport& t, const std::vector<double>& columns) const {
        std::vector<double> sums(columns.size());
        for (std::size_t k = 0; k < t.plan.size(); k += columns.size())
            for (std::size_t j = 0; j < columns.size(); ++j) sums[j] += t.plan[k + j];
        t.error = 0;
        for (std::size_t j = 0; j < columns.size(); ++j) t.error += std::fabs(sums[j] - columns[j]);
        t.converged = t.error <= tolerance;
    }

    // A row or column with a mass needs a pair that is not forbidden, with a mass on the other side.
    template <std::floating_point T>
    static void check_ways(matrix_view<const T> cost, const std::vector<double>& rows,
                           const std::vector<double>& columns) {
        std::vector<bool> has_way(cost.cols());
        for (std::size_t i = 0; i < cost.rows(); ++i) {
            bool row_has_way = rows[i] == 0;
            for (std::size_t j = 0; j < cost.cols(); ++j) {
                if (cost(i, j) == std::numeric_limits<T>::infinity()) continue;
                row_has_way = row_has_way || columns[j] > 0;
                if (rows[i] > 0) has_way[j] = true;
            }
            if (!row_has_way) throw value_error("every pair of row " + std::to_string(i) + " is forbidden");
        }
        for (std::size_t j = 0; j < cost.cols(); ++j)
            if (columns[j] > 0 && !has_way[j])
                throw value_error("every pair of column " + std::to_string(j) + " is forbidden");
    }

    // Standard deviation of the finite costs; 1 when they are all alike, where any regularization says the same.
    template <std::floating_point T>
    static double spread(matrix_view<const T> cost, double scale) {
        double count = 0;
        double mean = 0;
        if (scale == 0) return 1;
        double squares = 0;
        for (std::size_t i = 0; i < cost.rows(); ++i) {
            for (T c : cost.row(i)) {
                if (c == std::numeric_limits<T>::infinity()) continue;
                const double step = static_cast<double>(c) / scale - mean; // Welford 1962
                mean += step / ++count;
                squares += step * (static_cast<double>(c) / scale - mean);
            }
        }
        const double deviation = std::sqrt(squares / count) * scale;
        return deviation > 0 ? deviation : 1;
    }
};

} // namespace plait
