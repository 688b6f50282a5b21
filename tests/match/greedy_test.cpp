#include <plait/core/random.hpp>
#include <plait/match/greedy.hpp>

#include "core/fault_of.hpp"
#include "match/brute_force.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

using namespace plait;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// The definition: the cheapest free pair, of equals the lowest row and then the lowest column, again and again.
std::optional<std::vector<std::size_t>> cheapest_pairs(matrix_view<const float> cost) {
    std::vector<std::size_t> columns(cost.rows(), assignment::unmatched);
    std::vector<bool> taken(cost.cols());
    for (std::size_t k = 0; k < std::min(cost.rows(), cost.cols()); ++k) {
        float best = infinity;
        std::pair<std::size_t, std::size_t> at{};
        for (std::size_t i = 0; i < cost.rows(); ++i)
            for (std::size_t j = 0; j < cost.cols(); ++j)
                if (columns[i] == assignment::unmatched && !taken[j] && cost(i, j) < best)
                    best = cost(i, j), at = {i, j};
        if (best == infinity) return std::nullopt;
        columns[at.first] = at.second;
        taken[at.second] = true;
    }
    return columns;
}

template <class Draw>
void check_small(Draw draw) {
    for (std::size_t rows = 1; rows <= 6; ++rows) {
        for (std::size_t cols = 1; cols <= 6; ++cols) {
            for (int round = 0; round < 5; ++round) {
                std::vector<float> values(rows * cols);
                for (float& x : values) x = static_cast<float>(draw());
                const matrix_view<const float> cost{values.data(), rows, cols};
                const auto expected = cheapest_pairs(cost);
                if (!expected) {
                    CHECK_THROWS_AS(greedy{}(cost), value_error);
                    continue;
                }
                const assignment a = greedy{}(cost);
                REQUIRE(is_assignment(a, cost));
                CHECK(a.columns == *expected);
                CHECK(std::abs(a.cost - cost_of(a, cost)) <= 1e-12);
                const double optimum = least_cost(cost);
                CHECK(a.cost >= optimum - 1e-12);
                CHECK(a.cost - a.gap <= optimum + 1e-12);
                CHECK(dual_violation(a, cost) == 0);
                double bound = 0;
                for (double u : a.row_duals) bound += u;
                for (double v : a.column_duals) bound += v;
                if (rows == cols) CHECK(std::abs(a.cost - a.gap - bound) <= 1e-12);
            }
        }
    }
}

} // namespace

TEST_CASE("greedy takes the cheapest free pair, and its gap bounds what that costs") {
    counter_random random(1);
    check_small([&] { return 2 * random.uniform() - 1; });
}

TEST_CASE("greedy breaks ties by the lowest row, then the lowest column") {
    counter_random random(2);
    check_small([&] { return random.below(3); });
    const std::vector<float> equal(20, 1.5F);
    const assignment a = greedy{}(matrix_view<const float>{equal.data(), 4, 5});
    CHECK(a.columns == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(a.gap == 0);
}

TEST_CASE("greedy avoids forbidden pairs while it can, and says which row is left without a column") {
    counter_random random(3);
    check_small([&] { return random.below(3) ? static_cast<double>(random.below(5)) : infinity; });
    const std::vector<float> trap{0, 1, 1, infinity};
    CHECK(says(fault_of<value_error>([&] {
                   greedy{}(matrix_view<const float>{trap.data(), 2, 2});
               }),
               "alone for row 1"));
}

TEST_CASE("greedy in double sees what float cannot tell apart") {
    const std::vector<double> cost{1 + 0x1p-40, 1, 1, 1 + 0x1p-40};
    CHECK(greedy{}(matrix_view<const double>{cost.data(), 2, 2}).columns == std::vector<std::size_t>{1, 0});
}

TEST_CASE("greedy refuses NaN and minus infinity, and takes empty matrices") {
    const std::vector<float> bad{0, std::nanf(""), 1, 2};
    CHECK(says(fault_of<value_error>([&] {
                   greedy{}(matrix_view<const float>{bad.data(), 2, 2});
               }),
               "row 0, column 1 is NaN"));
    const float* const none = nullptr;
    CHECK(greedy{}(matrix_view<const float>{none, 0, 4}).columns.empty());
    CHECK(greedy{}(matrix_view<const float>{none, 2, 0}).columns == std::vector<std::size_t>(2, assignment::unmatched));
}
