// Small matrices of any bytes, as float and as double: hungarian agrees with trying every assignment, or refuses what
// cannot be solved; cold, and warm from the assignment of another matrix.
#include <plait/match/hungarian.hpp>

#include "match/brute_force.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace {

void demand(bool holds) {
    if (!holds) std::abort();
}

template <class T>
void check(const std::optional<plait::assignment>& a, plait::matrix_view<const T> cost) {
    double scale = 0;
    bool numbers = true;
    const double largest = std::numeric_limits<double>::max() / 4 / static_cast<double>(cost.rows() + cost.cols() + 1);
    for (std::size_t i = 0; i < cost.rows(); ++i) {
        for (T c : cost.row(i)) {
            const auto x = std::fabs(static_cast<double>(c));
            numbers = numbers && (x <= largest || c == std::numeric_limits<T>::infinity());
            if (std::isfinite(x)) scale = std::max(scale, x);
        }
    }
    const double expected = numbers ? least_cost(cost) : 0;
    demand(a.has_value() == (numbers && expected < std::numeric_limits<double>::infinity()));
    if (!a) return;
    const double tolerance = 1e-13 * scale;
    demand(is_assignment(*a, cost));
    demand(std::fabs(cost_of(*a, cost) - expected) <= tolerance);
    demand(std::fabs(a->gap) <= tolerance);
    demand(dual_violation(*a, cost) <= tolerance);
}

template <class T>
std::optional<plait::assignment> solve(plait::matrix_view<const T> cost, const plait::assignment* previous) {
    try {
        return previous ? plait::hungarian{}(cost, *previous) : plait::hungarian{}(cost);
    } catch (const plait::value_error&) {
        return std::nullopt;
    }
}

// The way of large matrices.
template <class T>
std::optional<plait::assignment> solve_over_lists(plait::matrix_view<const T> cost, const plait::assignment* previous) {
    try {
        plait::detail::assignment_solver<T> solver(cost, 0);
        if (!previous)
            solver.start();
        else if (!solver.start_from(*previous))
            return plait::hungarian{}(cost);
        if (solver.may_overflow()) return plait::hungarian{}(cost);
        return solver.finish();
    } catch (const plait::value_error&) {
    } catch (const plait::detail::infeasible&) {
    }
    return std::nullopt;
}

template <class T>
void check_bytes(const std::uint8_t* data, std::size_t size, std::size_t rows, std::size_t cols) {
    std::vector<T> values(rows * cols);
    if (size > 0) std::memcpy(values.data(), data, std::min(size, values.size() * sizeof(T)));
    const plait::matrix_view<const T> cost(values.data(), rows, cols);
    check(solve(cost, nullptr), cost);
    if (rows <= cols) check(solve_over_lists(cost, nullptr), cost);

    // The earlier matrix: what bytes are left in place of the first costs, or the same costs with a row reversed.
    std::vector<T> other = values;
    const std::size_t used = std::min(size, values.size() * sizeof(T));
    std::reverse(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(cols));
    if (size > used) std::memcpy(other.data(), data + used, std::min(size - used, other.size() * sizeof(T)));
    const auto previous = solve(plait::matrix_view<const T>(other.data(), rows, cols), nullptr);
    if (!previous) return;
    check(solve(cost, &*previous), cost);
    if (rows <= cols) check(solve_over_lists(cost, &*previous), cost);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::size_t rows = 1 + data[0] % 6;
    const std::size_t cols = 1 + data[0] / 6 % 6;
    if (data[1] % 2) check_bytes<float>(data + 2, size - 2, rows, cols);
    else check_bytes<double>(data + 2, size - 2, rows, cols);
    return 0;
}
