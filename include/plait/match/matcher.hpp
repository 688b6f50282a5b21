#pragma once

#include <plait/core/error.hpp>
#include <plait/core/matrix_view.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace plait {

/// What a matcher returns: a column for every row, no column twice.
struct assignment {
    static constexpr std::size_t unmatched = static_cast<std::size_t>(-1);

    std::vector<std::size_t> columns = {}; ///< of row i; `unmatched` for the rows left over when rows > columns
    double cost = 0;                       ///< sum of the chosen entries
    double gap = 0; ///< cost minus a lower bound of every assignment's cost: 0, up to rounding, proves the optimum
    std::vector<double> row_duals = {}; ///< u, v with u[i] + v[j] <= cost(i, j); empty when there is no bound
    std::vector<double> column_duals = {};
};

/// Finds a cheap assignment of rows to columns: minimises, takes any shape, the same for the same costs.
template <class M>
concept matcher = std::copy_constructible<M> && requires(const M& m, matrix_view<const float> cost) {
    { m(cost) } -> std::same_as<assignment>;
};

/// A matcher that can start from its assignment of an earlier, similar matrix of the same shape.
template <class M>
concept warm_matcher = matcher<M> && requires(const M& m, matrix_view<const float> cost, const assignment& previous) {
    { m(cost, previous) } -> std::same_as<assignment>;
};

namespace detail {

/// Of larger ones sums may overflow a double.
inline double largest_cost(std::size_t rows, std::size_t cols) {
    return std::numeric_limits<double>::max() / 4 / static_cast<double>(rows + cols + 1);
}

/// Throws value_error on NaN, on minus infinity, and on finite costs so large that their sums may overflow a double.
/// Plus infinity forbids a pair. Returns the largest finite magnitude.
template <std::floating_point T>
T check_costs(matrix_view<const T> cost) {
    const double largest = largest_cost(cost.rows(), cost.cols());
    T found = 0;
    for (std::size_t i = 0; i < cost.rows(); ++i) {
        for (std::size_t j = 0; j < cost.cols(); ++j) {
            const T c = cost(i, j);
            if (c != c || c == -std::numeric_limits<T>::infinity())
                throw value_error("the cost of row " + std::to_string(i) + ", column " + std::to_string(j) + " is "
                                  + (c != c ? "NaN" : "minus infinity") + ", expected a number or plus infinity");
            if (!std::isfinite(c)) continue;
            found = std::max(found, std::fabs(c));
            if (static_cast<double>(found) > largest)
                throw value_error("the cost of row " + std::to_string(i) + ", column " + std::to_string(j)
                                  + " is too large for sums of doubles");
        }
    }
    return found;
}

} // namespace detail
} // namespace plait
