#include <plait/core/random.hpp>
#include <plait/permutation/permutation.hpp>
#include <plait/permutation/unit_map.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

using namespace plait;

namespace {

permutation shuffled(std::size_t n, counter_random& random) {
    std::vector<std::size_t> images(n);
    for (std::size_t i = 0; i < n; ++i) images[i] = i;
    for (std::size_t i = n; i > 1; --i) std::swap(images[i - 1], images[random.below(i)]);
    return permutation(images);
}

// NumPy's w[p]
std::vector<int> taken(const std::vector<int>& w, const permutation& p) {
    std::vector<int> result;
    for (std::size_t i : p) result.push_back(w[i]);
    return result;
}

} // namespace

TEST_CASE("permutations are a group under composition") {
    counter_random random(1);
    for (const std::size_t n : {0U, 1U, 2U, 5U, 40U}) {
        const auto id = permutation::identity(n);
        for (int round = 0; round < 20; ++round) {
            const auto p = shuffled(n, random);
            const auto q = shuffled(n, random);
            const auto r = shuffled(n, random);
            CHECK(compose(p, id) == p);
            CHECK(compose(id, p) == p);
            CHECK(compose(p, p.inverse()) == id);
            CHECK(compose(p.inverse(), p) == id);
            CHECK(p.inverse().inverse() == p);
            CHECK(compose(compose(p, q), r) == compose(p, compose(q, r)));
            CHECK(compose(p, q).inverse() == compose(q.inverse(), p.inverse()));
        }
    }
}

TEST_CASE("composing means: take p, then q of the result") {
    counter_random random(2);
    std::vector<int> w(12);
    for (int& x : w) x = static_cast<int>(random.below(1000));
    for (int round = 0; round < 20; ++round) {
        const auto p = shuffled(w.size(), random);
        const auto q = shuffled(w.size(), random);
        CHECK(taken(w, compose(p, q)) == taken(taken(w, p), q));
        CHECK(taken(taken(w, p), p.inverse()) == w);
        for (std::size_t i = 0; i < p.size(); ++i) {
            CHECK(compose(p, q)[i] == p[q[i]]);
            CHECK(p.inverse()[p[i]] == i);
        }
    }
}

TEST_CASE("output position i takes input position p[i]") {
    const permutation p({2, 0, 1});
    CHECK(taken({10, 20, 30}, p) == std::vector<int>{30, 10, 20});
    CHECK(p.moved() == 3);
    CHECK(permutation({0, 2, 1}).moved() == 2);
    CHECK(permutation::identity(4).moved() == 0);
    CHECK(permutation().size() == 0);
    CHECK(p.data()[0] == 2);
}

TEST_CASE("images that are out of range or taken twice are refused by position") {
    CHECK(says(fault_of<value_error>([] { permutation({0, 3, 1}); }),
               "position 1 of a permutation of 3 takes 3, which is out of range"));
    CHECK(says(fault_of<value_error>([] { permutation({0, 1, 0}); }),
               "position 2 of a permutation of 3 takes 0, which is taken twice"));
    CHECK_THROWS_AS(permutation({static_cast<std::size_t>(-1)}), value_error);
    CHECK(says(fault_of<shape_error>([] { compose(permutation::identity(2), permutation::identity(3)); }),
               "2 and 3 positions"));
}

TEST_CASE("a unit map undoes on the readers what it does to the writers") {
    const unit_map m(permutation({1, 0, 2}), {2, -0.5, 4});
    CHECK_FALSE(m.is_permutation());
    REQUIRE(m.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(m.scales()[i] * m.reciprocals()[i] == 1);
    const unit_map plain(permutation({1, 0, 2}));
    CHECK(plain.is_permutation());
    CHECK(plain.scales().empty());
    CHECK(plain.reciprocals().empty());
    CHECK_FALSE(m == plain);
    CHECK(m == unit_map(permutation({1, 0, 2}), {2, -0.5, 4}));
}

TEST_CASE("a unit map refuses scales that are missing, zero, infinite or NaN") {
    const auto two = permutation::identity(2);
    CHECK(says(fault_of<shape_error>([&] { unit_map(two, {1}); }), "2 units has 1 scales"));
    for (const double bad : {0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::numeric_limits<double>::quiet_NaN()})
        CHECK(says(fault_of<value_error>([&] { unit_map(two, {1, bad}); }), "expected that it and its reciprocal are finite"));
}
