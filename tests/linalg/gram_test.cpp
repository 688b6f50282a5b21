#include <plait/core/random.hpp>
#include <plait/linalg/backend.hpp>
#include <plait/linalg/gram.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace plait;

namespace {

// Small integers: their products add up exactly in any order.
template <class T>
std::vector<T> small_integers(std::size_t n, counter_random& random) {
    std::vector<T> values(n);
    for (T& x : values) x = static_cast<T>(random.below(9)) - 4;
    return values;
}

constexpr float untouched = 1e6F;

/// A matrix whose rows lie further apart than its columns need.
template <class T>
struct padded {
    std::size_t rows, cols, ld;
    std::vector<T> values;
    padded(std::size_t r, std::size_t c, counter_random& random)
        : rows(r), cols(c), ld(c + random.below(4)), values(small_integers<T>(r * ld + 1, random)) {
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = cols; j < ld; ++j) values[i * ld + j] = untouched;
    }
    matrix_view<T> view() { return {values.data(), rows, cols, ld}; }
    T at(std::size_t i, std::size_t j, bool transposed) const {
        return transposed ? values[j * ld + i] : values[i * ld + j];
    }
};

template <class T>
void check_product(std::size_t m, std::size_t n, std::size_t k, bool ta, bool tb, counter_random& random) {
    padded<T> a(ta ? k : m, ta ? m : k, random);
    padded<T> b(tb ? n : k, tb ? k : n, random);
    padded<T> c(m, n, random);
    auto expected = c.values;
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t l = 0; l < k; ++l) expected[i * c.ld + j] += a.at(i, l, ta) * b.at(l, j, tb);
    multiply_add<T>(ta ? op::transposed : op::plain, a.view(), tb ? op::transposed : op::plain, b.view(), c.view());
    INFO(m << " x " << k << " x " << n << (ta ? ", A transposed" : "") << (tb ? ", B transposed" : ""));
    CHECK(c.values == expected);
}

template <class T>
void check_products(std::uint64_t seed) {
    counter_random random(seed);
    for (const bool ta : {false, true})
        for (const bool tb : {false, true})
            for (int round = 0; round < 60; ++round) {
                const std::size_t m = random.below(7);
                const std::size_t n = random.below(7);
                check_product<T>(m, n, random.below(7), ta, tb, random);
            }
}

/// A tensor read through levels of which some are reordered or scaled, over memory of its own.
struct gathered {
    std::vector<axis_level> levels;
    std::vector<float> memory;
    std::vector<std::vector<std::size_t>> orders;
    std::vector<std::vector<double>> scales;

    gathered(const std::vector<std::size_t>& extents, bool plain, counter_random& random)
        : orders(extents.size()), scales(extents.size()) {
        std::size_t size = 1;
        for (std::size_t e : extents) size *= e;
        memory = small_integers<float>(size + 1, random);
        std::ptrdiff_t step = 1;
        levels.resize(extents.size());
        for (std::size_t k = extents.size(); k-- > 0;) {
            levels[k] = {extents[k], step};
            step *= static_cast<std::ptrdiff_t>(extents[k]);
            if (plain) continue;
            for (std::size_t i = 0; i < extents[k]; ++i) {
                orders[k].push_back(random.below(extents[k]));
                scales[k].push_back(random.below(2) ? -1 : 2);
            }
            if (random.below(2)) levels[k].order = orders[k].data();
            if (random.below(2)) levels[k].scale = scales[k].data();
        }
    }

    // Elements in the order of the levels with `unit` moved to the front: unit by unit, the definition.
    std::vector<double> unfolded(std::size_t unit) const {
        std::vector<std::size_t> nest{unit};
        for (std::size_t k = 0; k < levels.size(); ++k)
            if (k != unit) nest.push_back(k);
        std::vector<double> result;
        const auto visit = [&](const auto& self, std::size_t depth, std::ptrdiff_t offset, double scale) -> void {
            if (depth == nest.size()) {
                result.push_back(scale * static_cast<double>(memory[static_cast<std::size_t>(offset)]));
                return;
            }
            const axis_level& level = levels[nest[depth]];
            for (std::size_t i = 0; i < level.extent; ++i) {
                const std::size_t from = level.order ? level.order[i] : i;
                self(self, depth + 1, offset + static_cast<std::ptrdiff_t>(from) * level.stride,
                     level.scale ? scale * level.scale[i] : scale);
            }
        };
        visit(visit, 0, 0, 1);
        return result;
    }

    unfolding<float> view(std::size_t unit, bool last) const {
        return {dtype::f32, reinterpret_cast<const std::byte*>(memory.data()), levels, unit, last};
    }
};

void check_gram(const std::vector<std::size_t>& extents, std::size_t unit, std::size_t other_units, bool last,
                bool plain, counter_random& random) {
    auto other_extents = extents;
    other_extents[unit] = other_units;
    const gathered a(extents, plain, random);
    const gathered b(other_extents, plain, random);
    const std::size_t n = extents[unit];
    auto c = small_integers<float>(n * other_units, random);
    const auto rows = a.unfolded(unit);
    const auto columns = b.unfolded(unit);
    const std::size_t others = n ? rows.size() / n : 0;
    auto expected = c;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < other_units; ++j)
            for (std::size_t o = 0; o < others; ++o)
                expected[i * other_units + j] += static_cast<float>(rows[i * others + o] * columns[j * others + o]);
    add_gram(a.view(unit, last), b.view(unit, last), matrix_view<float>{c.data(), n, other_units}, 2);
    INFO("unit " << unit << " of " << extents.size() << (last ? ", last" : "") << (plain ? ", plain" : ""));
    CHECK(c == expected);
}

} // namespace

TEST_CASE("products of padded matrices, transposed or not, add to what is there") {
    check_products<float>(1);
    check_products<double>(2);
}

TEST_CASE("a product with an empty side or depth changes nothing") {
    counter_random random(3);
    for (const bool ta : {false, true})
        for (const bool tb : {false, true}) {
            check_product<float>(0, 3, 2, ta, tb, random);
            check_product<float>(3, 0, 2, ta, tb, random);
            check_product<float>(3, 2, 0, ta, tb, random);
            check_product<float>(0, 0, 0, ta, tb, random);
        }
}

TEST_CASE("a product of many rows has the same bits whatever the threads, and the right sum") {
    counter_random random(4);
    const std::size_t m = 1100;
    const std::size_t n = 33;
    const std::size_t k = 65;
    for (const bool ta : {false, true}) {
        std::vector<float> a(m * k);
        std::vector<float> b(k * n);
        for (float& x : a) x = static_cast<float>(random.uniform() - 0.5);
        for (float& x : b) x = static_cast<float>(random.uniform() - 0.5);
        const matrix_view<const float> left{a.data(), ta ? k : m, ta ? m : k};
        const matrix_view<const float> right{b.data(), k, n};
        std::vector<std::vector<float>> results;
        for (const std::size_t threads : {1U, 2U, 5U}) {
            results.emplace_back(m * n, 1.0F);
            multiply_add<float>(ta ? op::transposed : op::plain, left, op::plain, right,
                                {results.back().data(), m, n}, threads);
            CHECK(std::memcmp(results[0].data(), results.back().data(), m * n * sizeof(float)) == 0);
        }
        double worst = 0;
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                double sum = 1;
                for (std::size_t l = 0; l < k; ++l)
                    sum += static_cast<double>(ta ? left(l, i) : left(i, l)) * static_cast<double>(right(l, j));
                worst = std::max(worst, std::abs(sum - static_cast<double>(results[0][i * n + j])));
            }
        }
        CHECK(worst < 1e-5);
    }
}

TEST_CASE("matrices that do not fit are refused with all extents") {
    std::vector<float> w(100);
    const auto v = [&](int rows, int cols) { return matrix_view<float>{w.data(), rows, cols}; };
    const auto fault = [&](op ta, matrix_view<float> a, op tb, matrix_view<float> b, matrix_view<float> c) {
        return fault_of<shape_error>([&] { multiply_add<float>(ta, a, tb, b, c); });
    };
    CHECK(says(fault(op::plain, v(2, 3), op::plain, v(4, 5), v(2, 5)), "2 x 3 and 4 x 5 into 2 x 5"));
    CHECK_FALSE(fault(op::plain, v(2, 3), op::plain, v(3, 5), v(3, 5)).empty());
    CHECK_FALSE(fault(op::plain, v(2, 3), op::plain, v(3, 5), v(2, 4)).empty());
    CHECK_FALSE(fault(op::transposed, v(2, 3), op::plain, v(3, 5), v(2, 5)).empty());
    CHECK_FALSE(fault(op::plain, v(2, 3), op::transposed, v(3, 5), v(2, 5)).empty());
    CHECK(fault(op::transposed, v(3, 2), op::transposed, v(5, 3), v(2, 5)).empty());
    const float* const far = w.data();
    CHECK_THROWS_AS(multiply_add<float>(op::plain, {far, 1, 1, std::size_t{1} << 31}, op::plain, {far, 1, 1}, v(1, 1)),
                    shape_error);
}

TEST_CASE("gram sums products of units over everything else, through orders and scales") {
    counter_random random(5);
    for (const bool plain : {true, false})
        for (const bool last : {false, true})
            for (std::size_t rank = 1; rank <= 4; ++rank)
                for (std::size_t unit = 0; unit < rank; ++unit)
                    for (int round = 0; round < 4; ++round) {
                        std::vector<std::size_t> extents(rank);
                        for (std::size_t& e : extents) e = 1 + random.below(5);
                        check_gram(extents, unit, 1 + random.below(5), last, plain, random);
                    }
}

TEST_CASE("gram of more than a panel is the sum of its panels") {
    counter_random random(6);
    for (const bool plain : {true, false}) {
        check_gram({2, 300}, 0, 4096, false, plain, random);
        check_gram({300, 2}, 1, 4096, true, plain, random);
        check_gram({5, 2, 60}, 1, 4096, false, plain, random);
    }
}

TEST_CASE("gram of nothing changes nothing") {
    counter_random random(7);
    for (const bool last : {false, true}) {
        check_gram({3, 0}, 0, 3, last, true, random);
        check_gram({0, 3}, 0, 2, last, true, random);
        check_gram({2, 3}, 0, 0, last, true, random);
    }
}

TEST_CASE("unfoldings with other extents do not multiply") {
    counter_random random(8);
    const gathered a({2, 3}, true, random);
    const gathered b({2, 4}, true, random);
    std::vector<float> c(4);
    const matrix_view<float> out{c.data(), 2, 2};
    CHECK(says(fault_of<shape_error>([&] { add_gram(a.view(0, false), b.view(0, false), out, 1); }), "of 3 and 4"));
    CHECK_THROWS_AS(add_gram(a.view(0, false), a.view(0, true), out, 1), shape_error);
    CHECK_THROWS_AS(add_gram(a.view(0, false), a.view(0, false), matrix_view<float>{c.data(), 1, 2}, 1), shape_error);
}
