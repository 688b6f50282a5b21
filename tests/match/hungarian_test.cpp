#include <plait/core/random.hpp>
#include <plait/match/hungarian.hpp>

#include "core/fault_of.hpp"
#include "match/brute_force.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace plait;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
struct matrix {
    std::size_t rows;
    std::size_t cols;
    std::vector<T> values;
    matrix_view<const T> view() const { return {values.data(), rows, cols}; }
};

template <class T, class Draw>
matrix<T> drawn(std::size_t rows, std::size_t cols, Draw draw) {
    matrix<T> m{rows, cols, std::vector<T>(rows * cols)};
    for (T& x : m.values) x = static_cast<T>(draw());
    return m;
}

// Valid, as cheap as trying everything, and proved by its own duals. `scale` is the size of the costs.
template <class T>
void check_optimal(const matrix<T>& m, double scale) {
    const assignment a = hungarian{}(m.view());
    const double tolerance = 1e-12 * scale;
    INFO(m.rows << " x " << m.cols);
    REQUIRE(is_assignment(a, m.view()));
    CHECK(std::abs(a.cost - cost_of(a, m.view())) <= tolerance);
    CHECK(std::abs(a.cost - least_cost(m.view())) <= tolerance);
    CHECK(std::abs(a.gap) <= tolerance);
    CHECK(dual_violation(a, m.view()) <= tolerance);
}

template <class Draw>
void check_all_small(double scale, Draw draw) {
    for (std::size_t rows = 1; rows <= 7; ++rows) {
        for (std::size_t cols = 1; cols <= 7; ++cols) {
            for (int round = 0; round < (rows + cols > 12 ? 1 : 3); ++round) {
                check_optimal(drawn<float>(rows, cols, draw), scale);
                check_optimal(drawn<double>(rows, cols, draw), scale);
            }
        }
    }
}

template <class T>
void check_proved(const matrix<T>& m) {
    const assignment a = hungarian{}(m.view());
    INFO(m.rows << " x " << m.cols);
    REQUIRE(is_assignment(a, m.view()));
    CHECK(dual_violation(a, m.view()) <= 1e-12);
    double slack = 0;
    for (std::size_t i = 0; i < m.rows; ++i)
        if (const std::size_t j = a.columns[i]; j != assignment::unmatched)
            slack = std::max(slack, std::abs(a.row_duals[i] + a.column_duals[j] - static_cast<double>(m.view()(i, j))));
    CHECK(slack <= 1e-12);
    CHECK(std::abs(a.gap) <= 1e-12 * static_cast<double>(m.rows + m.cols));
}

} // namespace

TEST_CASE("no assignment is cheaper, for all shapes up to 7 x 7") {
    counter_random random(1);
    check_all_small(1, [&] { return 2 * random.uniform() - 1; });
}

TEST_CASE("no assignment is cheaper when most costs are tied") {
    counter_random random(2);
    check_all_small(7, [&] { return static_cast<double>(random.below(3)); });
    check_all_small(7, [&] { return -static_cast<double>(random.below(2)); });
}

TEST_CASE("no assignment is cheaper when costs are huge, tiny or both") {
    counter_random random(3);
    check_all_small(7e30, [&] { return 1e30 * (2 * random.uniform() - 1); });
    check_all_small(7e-30, [&] { return 1e-30 * (2 * random.uniform() - 1); });
    check_all_small(7e30, [&] { return std::array{1e30, 1e-30}[random.below(2)]; });
}

TEST_CASE("forbidden pairs are avoided, and only a matrix that allows no assignment is refused") {
    counter_random random(4);
    int feasible = 0;
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
        const std::size_t rows = 1 + random.below(5);
        const std::size_t cols = 1 + random.below(5);
        const auto m = drawn<double>(rows, cols, [&] {
            return random.below(5) < 3 ? infinity : static_cast<double>(random.below(9));
        });
        if (least_cost(m.view()) < infinity) {
            ++feasible;
            check_optimal(m, 9);
        } else {
            ++refused;
            CHECK(says(fault_of<value_error>([&] { hungarian{}(m.view()); }),
                       "no assignment avoids the forbidden pairs"));
        }
    }
    CHECK(feasible > 50);
    CHECK(refused > 50);
}

TEST_CASE("a row that must stay free may be forbidden everywhere") {
    const matrix<double> m{3, 2, {1, 2, infinity, infinity, 3, 1}};
    const assignment a = hungarian{}(m.view());
    CHECK(a.columns == std::vector<std::size_t>{0, assignment::unmatched, 1});
    CHECK(a.cost == 2);
}

TEST_CASE("equal costs give the identity") {
    for (const std::size_t n : {1U, 2U, 5U, 50U}) {
        for (const double c : {0.0, 1.0, -3.5}) {
            const auto a = hungarian{}(drawn<double>(n, n + n % 2, [&] { return c; }).view());
            for (std::size_t i = 0; i < n; ++i) REQUIRE(a.columns[i] == i);
        }
    }
}

TEST_CASE("the duals prove assignments of up to 300 units") {
    counter_random random(5);
    const auto uniform = [&] { return random.uniform(); };
    const auto tied = [&] { return static_cast<double>(random.below(10)); };
    for (const auto& [rows, cols] : {std::pair{300U, 300U}, {120U, 300U}, {300U, 120U}, {64U, 65U}}) {
        check_proved(drawn<double>(rows, cols, uniform));
        check_proved(drawn<float>(rows, cols, uniform));
        check_proved(drawn<float>(rows, cols, tied));
    }
}

TEST_CASE("a planted permutation is found") {
    counter_random random(6);
    for (const std::size_t n : {2U, 17U, 100U}) {
        std::vector<std::size_t> images(n);
        for (std::size_t i = 0; i < n; ++i) images[i] = i;
        for (std::size_t i = n; i > 1; --i) std::swap(images[i - 1], images[random.below(i)]);
        auto m = drawn<float>(n, n, [&] { return random.uniform(); });
        for (std::size_t i = 0; i < n; ++i) m.values[i * n + images[i]] = -1;
        CHECK(hungarian{}(m.view()).columns == images);
    }
}

TEST_CASE("memory between the rows is not looked at") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> padded{4, 1, nan, nan, 2, 3, nan, nan};
    for (const std::size_t rows : {2U, 1U}) {
        const assignment a = hungarian{}(matrix_view<const float>{padded.data(), rows, 2, 4});
        CHECK(a.columns[0] == 1);
        CHECK(a.cost == (rows == 2 ? 3 : 1));
    }
    const std::vector<float> tall{5, nan, 1, nan, 3, nan};
    CHECK(hungarian{}(matrix_view<const float>{tall.data(), 3, 1, 2}).columns ==
          std::vector<std::size_t>{assignment::unmatched, 0, assignment::unmatched});
}

TEST_CASE("NaN and minus infinity are refused by row and column") {
    for (const double bad : {std::nan(""), -infinity}) {
        const matrix<double> m{2, 3, {0, 1, 2, 3, 4, bad}};
        const auto fault = fault_of<value_error>([&] { hungarian{}(m.view()); });
        CHECK(says(fault, "row 1, column 2 is " + std::string(bad < 0 ? "minus infinity" : "NaN")));
        const matrix<float> tall{3, 1, {0, static_cast<float>(bad), 1}};
        CHECK(says(fault_of<value_error>([&] { hungarian{}(tall.view()); }), "row 1, column 0"));
    }
}

TEST_CASE("nothing to assign is an assignment, without a cost") {
    const float one = 3;
    const float* const none = nullptr;
    for (const auto& [rows, cols] : {std::pair{0U, 0U}, {0U, 3U}, {3U, 0U}}) {
        const assignment a = hungarian{}(matrix_view<const float>{none, rows, cols});
        CHECK(a.columns == std::vector<std::size_t>(rows, assignment::unmatched));
        CHECK(a.cost == 0);
        CHECK(a.gap == 0);
        CHECK(a.row_duals.size() == rows);
        CHECK(a.column_duals.size() == cols);
    }
    const assignment a = hungarian{}(matrix_view<const float>{&one, 1, 1});
    CHECK(a.columns == std::vector<std::size_t>{0});
    CHECK(a.cost == 3);
}

TEST_CASE("costs whose sums would overflow a double are refused, not mistaken for forbidden pairs") {
    const std::vector<double> costs{-1e308, 1e308, -1e308, 1.5e308};
    const auto fault = fault_of<value_error>([&] { hungarian{}(matrix_view<const double>(costs.data(), 2, 2)); });
    CHECK(says(fault, "row 0, column 0 is too large"));
}
