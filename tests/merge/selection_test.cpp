// How elements are selected: by order, exactly, and by chance, as often as they should be.
#include <plait/plait.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace plait;

std::vector<std::vector<float>> rows_of_all_kinds() {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    counter_random draw(5);
    std::vector<std::vector<float>> rows{{}, {3}, {0, 0, 0, 0}, {2, -1, NAN, infinity, -infinity, 0, 1}};
    for (const std::size_t n : {2U, 511U, 513U, 4096U}) {
        std::vector<float> random(n), coarse(n), crowded(n);
        for (std::size_t e = 0; e < n; ++e) {
            random[e] = static_cast<float>(draw.uniform() - .5);
            coarse[e] = std::round(random[e] * 16) / 16;
            crowded[e] = 1 + static_cast<float>(draw.below(500)) * 0x1p-23F; // equal in their first bits
        }
        crowded[0] = 0;
        rows.insert(rows.end(), {random, coarse, crowded});
    }
    return rows;
}

// Which elements of a tensor of n are kept of each of `models` models. Magnitudes grow with the position.
template <class Method>
std::vector<std::vector<bool>> kept(Method method, std::size_t models, std::size_t n, const std::string& name) {
    model ramp, base;
    const auto rising = ramp.add(name, dtype::f32, {1, n}).template as<float>();
    const auto zero = base.add(name, dtype::f32, {1, n}).template as<float>();
    for (std::size_t e = 0; e < n; ++e) rising(0, e) = static_cast<float>(e + 1), zero(0, e) = 0;
    method.divide_by = divisor::one;
    std::vector<std::vector<bool>> result;
    for (std::size_t k = 0; k < models; ++k) {
        method.weights.assign(models, 0);
        method.weights[k] = 1;
        const model merged = fuse(std::vector<model>(models, ramp), task_vectors{base} | method);
        const auto found = merged.at(name).template as<const float>();
        for (auto& of_model = result.emplace_back(); of_model.size() < n;)
            of_model.push_back(found(0, of_model.size()) != 0);
    }
    return result;
}

double share(const std::vector<bool>& x, std::size_t first, std::size_t n) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    return static_cast<double>(std::count(begin, begin + static_cast<std::ptrdiff_t>(n), true))
           / static_cast<double>(n);
}

double share_of_equal(const std::vector<bool>& x, const std::vector<bool>& y, std::size_t shift) {
    std::size_t equal = 0;
    for (std::size_t e = shift; e < x.size(); ++e) equal += x[e] == y[e - shift];
    return static_cast<double>(equal) / static_cast<double>(x.size() - shift);
}

} // namespace

TEST_CASE("magnitudes are ordered as a stable sort orders them, whatever their kind") {
    for (const auto& row : rows_of_all_kinds()) {
        std::vector<std::uint32_t> expected(row.size());
        std::iota(expected.begin(), expected.end(), 0U);
        const auto bits = [&](std::uint32_t e) { return std::bit_cast<std::uint32_t>(std::fabs(row[e])); };
        std::ranges::stable_sort(expected, {}, bits);
        for (const bool is_wide : {false, true}) {
            detail::magnitude_order order(row.size(), is_wide);
            std::vector<std::uint32_t> found;
            for (const std::uint64_t entry : order.of(std::span<const float>(row)))
                found.push_back(static_cast<std::uint32_t>(entry));
            CHECK(found == expected);
        }
    }
}

TEST_CASE("the n-th largest of keys is that of a sort") {
    for (const auto& row : rows_of_all_kinds()) {
        std::vector<std::uint32_t> keys;
        for (const float x : row) keys.push_back(std::bit_cast<std::uint32_t>(x));
        auto sorted = keys;
        std::ranges::sort(sorted, std::ranges::greater{});
        for (std::size_t rank = 0; rank < keys.size(); rank += 1 + keys.size() / 7)
            CHECK(detail::nth_largest(std::span<const std::uint32_t>(keys), rank) == sorted[rank]);
    }
}

TEST_CASE("chance keeps as many as it should, each model and each tensor others") {
    constexpr std::size_t n = 40001;
    for (const double density : {.1, .5, .9}) {
        const double deviation = std::sqrt(density * (1 - density) / n);
        const auto of_w = kept(dare{.density = density, .seed = 3}, 2, n, "w");
        const auto of_v = kept(dare{.density = density, .seed = 3}, 1, n, "v");
        const double equal_by_chance = density * density + (1 - density) * (1 - density);
        const double spread = 5 * std::sqrt(equal_by_chance * (1 - equal_by_chance) / n);
        CHECK(std::fabs(share(of_w[0], 0, n) - density) < 5 * deviation);
        CHECK(std::fabs(share(of_w[1], 0, n) - density) < 5 * deviation);
        CHECK(std::fabs(share_of_equal(of_w[0], of_w[1], 0) - equal_by_chance) < spread);
        CHECK(std::fabs(share_of_equal(of_w[0], of_v[0], 0) - equal_by_chance) < spread);
        for (const std::size_t shift : {1U, 2U, 3U, 64U}) // two neighbours share a random number
            CHECK(std::fabs(share_of_equal(of_w[0], of_w[0], shift) - equal_by_chance) < spread);
    }
}

TEST_CASE("chance by rank keeps large elements more often than small ones") {
    constexpr std::size_t n = 60000;
    const auto of_w = kept(della{.density = .5, .epsilon = .3}, 1, n, "w")[0];
    for (std::size_t part = 0; part < 6; ++part) {
        const double expected = .2 + .6 * (static_cast<double>(part) + .5) / 6;
        CHECK(std::fabs(share(of_w, part * n / 6, n / 6) - expected)
              < 5 * std::sqrt(expected * (1 - expected) / (n / 6)));
    }
}
