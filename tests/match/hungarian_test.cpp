#include <plait/core/random.hpp>
#include <plait/match/hungarian.hpp>

#include "core/fault_of.hpp"
#include "match/brute_force.hpp"
#include "match/families.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
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
    if (m.rows > m.cols) return;
    detail::assignment_solver<T> over_lists(m.view(), 0); // as if there were many columns
    over_lists.start();
    if (over_lists.may_overflow()) return;
    const assignment b = over_lists.finish();
    REQUIRE(is_assignment(b, m.view()));
    CHECK(std::abs(b.cost - a.cost) <= tolerance);
    CHECK(dual_violation(b, m.view()) <= tolerance);
    CHECK(std::abs(b.gap) <= tolerance);
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

TEST_CASE("no assignment is cheaper when costs are denormal, mixed powers of two, equal or rows of copies") {
    counter_random random(11);
    check_all_small(7e-40, [&] { return 1e-40 * (2 * random.uniform() - 1); });
    check_all_small(0x1p103, [&] { return std::ldexp(random.uniform(), static_cast<int>(random.below(200)) - 100); });
    check_all_small(21, [] { return 3.0; });
    int k = 0;
    check_all_small(7, [&] { return static_cast<double>(k++ / 3 % 4); });
    check_all_small(7 * 3.4e38, [&] { return 3.4e38 * (2 * random.uniform() - 1); });
    check_all_small(7e6, [&] { return 1e6 + random.uniform(); });
}

TEST_CASE("all shapes up to 8 x 8 against brute force, the largest once") {
    counter_random random(12);
    for (const auto& [rows, cols] : {std::pair{8U, 8U}, {5U, 8U}, {8U, 4U}}) {
        check_optimal(drawn<float>(rows, cols, [&] { return static_cast<double>(random.below(4)); }), 8);
        check_optimal(drawn<double>(rows, cols, [&] { return random.uniform(); }), 8);
    }
}

TEST_CASE("forbidden pairs are avoided, and only a matrix that allows no assignment is refused") {
    counter_random random(4);
    int feasible = 0;
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
        const std::size_t rows = 1 + random.below(5);
        const std::size_t cols = 1 + random.below(5);
        const auto m = drawn<double>(
            rows, cols, [&] { return random.below(5) < 3 ? infinity : static_cast<double>(random.below(9)); });
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

TEST_CASE("the gap proves the families that alignment meets, beyond the sizes of each of the solver's ways") {
    for (const families::family& f : families::all) {
        for (const std::size_t n : {1U, 2U, 5U, 17U, 64U, 130U, 257U, 400U}) {
            INFO(f.name << ' ' << n);
            if (n < 4 && f.name == "hard_quarter") continue; // without depth
            const matrix<float> m{n, n, f.costs(n)};
            const assignment a = hungarian{}(m.view());
            REQUIRE(is_assignment(a, m.view()));
            double scale = 0;
            for (std::size_t i = 0; i < n; ++i) scale += std::abs(static_cast<double>(m.view()(i, a.columns[i])));
            CHECK(a.gap >= 0);
            CHECK(a.gap <= 1e-12 * scale);
            CHECK(dual_violation(a, m.view()) <= 1e-12 * scale);
        }
    }
}

TEST_CASE("rectangles of every family are proved, wide and tall") {
    for (const families::family& f : families::all) {
        const auto square = f.costs(300);
        for (const auto& [rows, cols] : {std::pair{300U, 40U}, {40U, 300U}, {290U, 300U}, {300U, 290U}}) {
            INFO(f.name << ' ' << rows << " x " << cols);
            const matrix_view<const float> part(square.data(), rows, cols, 300);
            const assignment a = hungarian{}(part);
            REQUIRE(is_assignment(a, part));
            double scale = 0;
            for (std::size_t i = 0; i < rows; ++i)
                if (a.columns[i] != assignment::unmatched)
                    scale += std::abs(static_cast<double>(part(i, a.columns[i])));
            CHECK(std::abs(a.gap) <= 1e-12 * scale);
            CHECK(dual_violation(a, part) <= 1e-12 * scale);
        }
    }
}

TEST_CASE("costs in double are proved in every way of the solver") {
    for (const families::family& f : families::all) {
        const auto costs = f.costs(300);
        matrix<double> m{300, 300, std::vector<double>(costs.begin(), costs.end())};
        for (double& c : m.values) c += c * 0x1p-30 * std::sin(c);
        const assignment a = hungarian{}(m.view());
        INFO(f.name);
        REQUIRE(is_assignment(a, m.view()));
        CHECK(a.gap <= 1e-12 * std::abs(a.cost));
        CHECK(dual_violation(a, m.view()) <= 1e-12 * std::abs(a.cost));
    }
}

TEST_CASE("an earlier assignment does not change the cost") {
    counter_random random(13);
    for (const families::family& f : families::all) {
        for (const std::size_t n : {40U, 300U}) {
            matrix<float> m{n, n, f.costs(n)};
            const assignment before = hungarian{}(m.view());
            CHECK(hungarian{}(m.view(), before).cost == Catch::Approx(before.cost).epsilon(1e-12));
            for (const double changed : {0.01, 0.3, 0.9}) {
                for (std::size_t i = 0; i < n; ++i)
                    if (random.uniform() < changed)
                        for (std::size_t j = 0; j < n; ++j)
                            m.values[i * n + j] *= 1 + static_cast<float>(random.uniform());
                const assignment warm = hungarian{}(m.view(), before);
                INFO(f.name << ' ' << n << ' ' << changed);
                REQUIRE(is_assignment(warm, m.view()));
                CHECK(warm.gap <= 1e-12 * std::abs(warm.cost) + 1e-12);
                CHECK(warm.cost == Catch::Approx(hungarian{}(m.view()).cost).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("an earlier assignment helps rectangles too, and may be of quite another matrix") {
    counter_random random(14);
    const auto draw = [&] { return random.uniform(); };
    for (const auto& [rows, cols] : {std::pair{30U, 50U}, {50U, 30U}, {3U, 3U}}) {
        const auto m = drawn<double>(rows, cols, draw);
        const auto other = drawn<double>(rows, cols, draw);
        const assignment before = hungarian{}(m.view());
        CHECK(std::abs(hungarian{}(m.view(), before).cost - before.cost) <= 1e-12);
        const assignment warm = hungarian{}(other.view(), before);
        CHECK(std::abs(warm.cost - hungarian{}(other.view()).cost) <= 1e-12);
        CHECK(std::abs(warm.gap) <= 1e-12);
    }
    for (const double scale : {1e30, 1e300, -1e30, 1e-30}) {
        const auto m = drawn<double>(20, 20, draw);
        const assignment before = hungarian{}(drawn<double>(20, 20, [&] { return scale; }).view()); // one price for all
        CHECK(std::abs(hungarian{}(m.view(), before).cost - hungarian{}(m.view()).cost) <= 1e-12);
        const matrix<float> narrow{20, 20, std::vector<float>(m.values.begin(), m.values.end())};
        CHECK(std::abs(hungarian{}(narrow.view(), before).cost - hungarian{}(narrow.view()).cost) <= 1e-12);
    }
    const matrix<double> forbidden{2, 2, {infinity, 1, 1, 0}};
    const matrix<double> free{2, 2, {0, 1, 1, 0}};
    CHECK(hungarian{}(forbidden.view(), hungarian{}(free.view())).cost == 2);
}

TEST_CASE("a warm start is proved when costs fell, with few columns and with many") {
    counter_random random(16);
    const auto draw = [&] { return random.uniform(); };
    for (int round = 0; round < 300; ++round) {
        const std::size_t n = 4 + random.below(20);
        auto m = drawn<double>(n, n, draw);
        const assignment before = hungarian{}(m.view());
        for (double& c : m.values) c -= 5;
        for (std::size_t i = 0; i < n; i += 5)
            for (std::size_t j = 0; j < n; ++j) m.values[i * n + j] = random.uniform() - 5;
        const double expected = hungarian{}(m.view()).cost;
        const auto check = [&](const assignment& a) {
            REQUIRE(is_assignment(a, m.view()));
            CHECK(std::abs(a.cost - expected) <= 1e-11);
            CHECK(dual_violation(a, m.view()) <= 1e-11);
            CHECK(std::abs(a.gap) <= 1e-11);
        };
        check(hungarian{}(m.view(), before));
        detail::assignment_solver<double> over_lists(m.view(), 0);
        if (over_lists.start_from(before)) check(over_lists.finish());
    }
}

TEST_CASE("an unchanged matrix is kept in one pass, and one redrawn in most rows is not") {
    counter_random random(17);
    const auto draw = [&] { return random.uniform(); };
    for (const std::size_t n : {40U, 300U}) {
        const auto m = drawn<float>(n, n, draw);
        const assignment before = hungarian{}(m.view());
        detail::assignment_solver<float> same(m.view());
        CHECK(same.start_from(before));
        CHECK(same.finish().columns == before.columns);
        CHECK(same.scans() == n);
        const auto other = drawn<float>(n, n, draw);
        detail::assignment_solver<float> redrawn(other.view());
        CHECK(!redrawn.start_from(before));
    }
}

TEST_CASE("prices that prove nothing about a rectangle are not believed") {
    const matrix<double> m{1, 2, {1, 0}};
    for (const auto& prices : {std::vector<double>{0, -5}, {5, 0}, {-1, 0}}) {
        const assignment previous{.columns = {0}, .row_duals = {0}, .column_duals = prices};
        const assignment a = hungarian{}(m.view(), previous);
        CHECK(a.columns[0] == 1);
        CHECK(a.cost == 0);
        CHECK(a.gap == 0);
    }
}

TEST_CASE("tall matrices with forbidden pairs are looked at once") {
    auto m = drawn<float>(2000, 100, [] { return 1.0; });
    for (std::size_t i = 0; i < m.rows; ++i) m.values[i * m.cols + i % m.cols] = std::numeric_limits<float>::infinity();
    CHECK(hungarian{}(m.view()).cost == 100);
}

TEST_CASE("an earlier assignment of another shape, or no assignment at all, is refused") {
    const matrix<double> m{2, 2, {0, 1, 1, 0}};
    const assignment good = hungarian{}(m.view());
    const auto refusal = [&](auto&& spoil) {
        assignment a = good;
        spoil(a);
        return fault_of<shape_error>([&] { hungarian{}(m.view(), a); });
    };
    CHECK(says(refusal([](assignment& a) { a.columns.push_back(2); }), "has 3 rows"));
    CHECK(
        says(refusal([](assignment& a) { a.column_duals.clear(); }), "0 column duals, expected 2 rows and 2 columns"));
    CHECK(says(refusal([](assignment& a) { a.columns[0] = 1; }), "column 1 twice"));
    CHECK(says(refusal([](assignment& a) { a.columns[0] = 7; }), "column 7 twice, or no such column"));
    CHECK(says(refusal([](assignment& a) { a.columns[0] = assignment::unmatched; }), "leaves rows and columns"));
    CHECK(says(refusal([](assignment& a) { a.column_duals[0] = std::nan(""); }), "not finite"));
}

TEST_CASE("costs of rank one, where prices fall by last bits, end") {
    counter_random random(15);
    std::vector<float> a(150);
    std::vector<float> b(150);
    for (float& x : a) x = static_cast<float>(random.uniform());
    for (float& x : b) x = static_cast<float>(random.uniform());
    matrix<float> m{150, 150, std::vector<float>(150 * 150)};
    for (std::size_t i = 0; i < 150; ++i)
        for (std::size_t j = 0; j < 150; ++j) m.values[i * 150 + j] = a[i] * b[j];
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end(), std::greater<>());
    double expected = 0; // the rearrangement inequality
    for (std::size_t i = 0; i < 150; ++i) expected += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    const assignment s = hungarian{}(m.view());
    CHECK(s.cost == Catch::Approx(expected).epsilon(1e-6));
    CHECK(s.gap <= 1e-12 * s.cost);
}

TEST_CASE("nearly tied costs are proved over lists, where the reduced costs of float round") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        constexpr std::size_t n = 40;
        const auto a = families::gaussian(n, 7 * seed + 1);
        const auto b = families::gaussian(n, 7 * seed + 2);
        matrix<float> m{n, n, std::vector<float>(n * n)};
        for (std::size_t k = 0; k < n * n; ++k) m.values[k] = std::abs(a[k / n] - b[k % n]);
        detail::assignment_solver<float> over_lists(m.view(), 0); // as if there were many columns
        over_lists.start();
        const assignment found = over_lists.finish();
        INFO(seed);
        CHECK(found.gap <= 1e-12 * found.cost);
        CHECK(dual_violation(found, m.view()) <= 1e-12 * found.cost);
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
    CHECK(hungarian{}(matrix_view<const float>{tall.data(), 3, 1, 2}).columns
          == std::vector<std::size_t>{assignment::unmatched, 0, assignment::unmatched});
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
