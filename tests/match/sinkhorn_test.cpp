#include <plait/core/random.hpp>
#include <plait/match/hungarian.hpp>
#include <plait/match/sinkhorn.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

using namespace plait;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> random_costs(std::size_t count, std::uint64_t seed) {
    counter_random random(seed);
    std::vector<double> c(count);
    for (double& x : c) x = 2 * random.uniform() - 1;
    return c;
}

void check_sums(const transport& t, std::size_t rows, std::size_t cols, double row_mass, double column_mass,
                double tolerance) {
    REQUIRE(t.plan.size() == rows * cols);
    for (double p : t.plan) REQUIRE((p >= 0 && p <= 1 + 1e-12));
    for (std::size_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < cols; ++j) sum += t.plan[i * cols + j];
        CHECK(std::abs(sum - row_mass) <= 1e-12);
    }
    for (std::size_t j = 0; j < cols; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += t.plan[i * cols + j];
        CHECK(std::abs(sum - column_mass) <= tolerance);
    }
}

} // namespace

TEST_CASE("a transport plan has the sums that were asked for, square or not") {
    for (const auto& [rows, cols] : {std::pair{5U, 5U}, {3U, 7U}, {7U, 3U}, {1U, 4U}, {1U, 1U}}) {
        const auto c = random_costs(rows * cols, rows);
        const transport t = sinkhorn{}(matrix_view<const double>(c.data(), rows, cols));
        CHECK(t.converged);
        CHECK(t.error <= 1e-6);
        check_sums(t, rows, cols, 1.0 / rows, 1.0 / cols, 1e-6);
    }
}

TEST_CASE("two units against two have a closed form") {
    const std::vector<float> c{0, 1, 1, 0}; // standard deviation 0.5
    for (const double r : {0.1, 0.5, 3.0}) {
        const transport t = sinkhorn{.regularization = r}(matrix_view<const float>(c.data(), 2, 2));
        const double same = 0.5 / (1 + std::exp(-1 / (0.5 * r)));
        CHECK(std::abs(t.plan[0] - same) <= 1e-9);
        CHECK(std::abs(t.plan[3] - same) <= 1e-9);
        CHECK(std::abs(t.cost - (1 - 2 * same)) <= 1e-9);
    }
}

TEST_CASE("with little regularization the plan is the optimal assignment") {
    for (std::size_t n = 2; n <= 12; ++n) {
        const auto c = random_costs(n * n, n);
        const matrix_view<const double> costs(c.data(), n, n);
        const assignment a = hungarian{}(costs);
        const transport t = sinkhorn{.regularization = 0.01, .max_iterations = 20000, .tolerance = 1e-3}(costs);
        REQUIRE(t.converged);
        CHECK(std::abs(t.cost * static_cast<double>(n) - a.cost) <= 0.02);
        std::size_t agree = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto row = t.plan.begin() + static_cast<std::ptrdiff_t>(i * n);
            agree += static_cast<std::size_t>(std::max_element(row, row + static_cast<std::ptrdiff_t>(n)) - row)
                     == a.columns[i];
        }
        CHECK(agree == n);
    }
}

TEST_CASE("scaling the costs does not change the plan") {
    auto c = random_costs(12, 1);
    const transport before = sinkhorn{}(matrix_view<const double>(c.data(), 3, 4));
    auto scaled = c;
    for (double& x : scaled) x *= 0x1p40;
    const transport after = sinkhorn{}(matrix_view<const double>(scaled.data(), 3, 4));
    for (std::size_t k = 0; k < 12; ++k) CHECK(std::abs(before.plan[k] - after.plan[k]) <= 1e-12);
}

TEST_CASE("nothing overflows at any regularization or scale of costs") {
    for (const double scale : {1e-30, 1.0, 1e30}) {
        auto c = random_costs(20, 2);
        for (double& x : c) x *= scale;
        for (const double r : {5e-324, 1e-300, 1e-20, 1e-3, 1.0, 1e3, 1e300, 1.7e308}) {
            const transport t =
                sinkhorn{.regularization = r, .max_iterations = 50}(matrix_view<const double>(c.data(), 4, 5));
            for (double p : t.plan) CHECK((p >= 0 && p <= 0.25 + 1e-12));
            CHECK(std::isfinite(t.cost));
            CHECK(std::isfinite(t.error));
            if (r >= 1e3) CHECK(std::abs(t.plan[0] - 0.05) <= 1e-3);
        }
    }
    const std::vector<float> equal(6, 3.4e38F);
    const transport t = sinkhorn{}(matrix_view<const float>(equal.data(), 2, 3));
    for (double p : t.plan) CHECK(std::abs(p - 1.0 / 6) <= 1e-12);
}

TEST_CASE("not converging is said, not hidden") {
    const auto c = random_costs(100, 3);
    const transport t =
        sinkhorn{.regularization = 1e-4, .max_iterations = 3}(matrix_view<const double>(c.data(), 10, 10));
    CHECK(!t.converged);
    CHECK(t.iterations == 3);
    CHECK(t.error > 1e-6);
    // No plan avoids the forbidden pairs: rows 0 and 1 both need column 0.
    const std::vector<double> trap{0, infinity, 0, infinity};
    CHECK(says(fault_of<value_error>([&] { sinkhorn{}(matrix_view<const double>(trap.data(), 2, 2)); }),
               "every pair of column 1 is forbidden"));
    const std::vector<double> narrow{0, infinity, infinity, 0, infinity, infinity, 0, 0, 0};
    CHECK(!sinkhorn{}(matrix_view<const double>(narrow.data(), 3, 3)).converged);
}

TEST_CASE("forbidden pairs carry nothing, and neither do rows without a mass") {
    const std::vector<double> c{0, infinity, 1, 2, 0, 1, infinity, infinity, infinity};
    const std::vector<double> rows{1, 3, 0};
    const std::vector<double> columns{2, 1, 1};
    const transport t = sinkhorn{}(matrix_view<const double>(c.data(), 3, 3), rows, columns);
    CHECK(t.converged);
    CHECK(t.plan[1] == 0);
    for (std::size_t j = 0; j < 3; ++j) CHECK(t.plan[6 + j] == 0);
    CHECK(std::abs(t.plan[0] + t.plan[2] - 0.25) <= 1e-12);
}

TEST_CASE("bad options, masses and costs are refused by name") {
    const std::vector<double> c{0, 1, 1, 0};
    const matrix_view<const double> costs(c.data(), 2, 2);
    for (const double r : {0.0, -1.0, std::nan(""), infinity})
        CHECK(says(fault_of<option_error>([&] { sinkhorn{.regularization = r}(costs); }), "regularization is"));
    CHECK(says(fault_of<option_error>([&] { sinkhorn{.max_iterations = 0}(costs); }), "max_iterations is 0"));
    CHECK(says(fault_of<option_error>([&] { sinkhorn{.tolerance = std::nan("")}(costs); }), "tolerance is"));
    const std::vector<double> one{1};
    const std::vector<double> two{1, 1};
    const std::vector<double> negative{1, -1};
    const std::vector<double> none{0, 0};
    CHECK(says(fault_of<option_error>([&] { sinkhorn{}(costs, one, two); }), "1 row masses, expected 2"));
    CHECK(says(fault_of<option_error>([&] { sinkhorn{}(costs, two, negative); }), "column mass is -1"));
    CHECK(says(fault_of<option_error>([&] { sinkhorn{}(costs, none, two); }), "row masses sum to 0"));
    const std::vector<double> bad{0, std::nan(""), 1, 0};
    CHECK(says(fault_of<value_error>([&] { sinkhorn{}(matrix_view<const double>(bad.data(), 2, 2)); }),
               "row 0, column 1 is NaN"));
    const double* nothing = nullptr;
    CHECK(sinkhorn{}(matrix_view<const double>(nothing, 0, 3)).converged);
}
