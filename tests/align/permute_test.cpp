#include "support/catch.hpp"
#include "support/networks.hpp"

#include <plait/align/permute.hpp>

using namespace plait;

TEST_CASE("a reordered network computes the same outputs") {
    for (const auto& net : {networks::mlp({5, 30, 20, 3}), networks::residual(12, 20, 2, 3, 4),
                            networks::convolutional()}) {
        const model a = networks::random_model(net, 1, dtype::f64);
        const model b = permute(a, networks::random_order(networks::bound(net, a), 2));
        CHECK_FALSE(networks::same_bits(a, b));
        CHECK(networks::largest_difference(net.forward(a), net.forward(b)) < 1e-12);
    }
}

TEST_CASE("the inverse order gives the model back, bit for bit, NaN and integers too") {
    auto net = networks::convolutional();
    model a = networks::random_model(net, 1);
    a.add("batches", dtype::i64, {}).as<std::int64_t>()() = 12;
    networks::assign(a.at("bn.bias"), {1, NAN, -0.0, INFINITY, 5, 6});
    const auto spec = networks::bound(net, a);
    const auto order = networks::random_order(spec, 2);
    std::vector<unit_map> back;
    for (std::size_t g = 0; g < order.size(); ++g) back.emplace_back(order[g].permutation().inverse());
    CHECK(networks::same_bits(permute(permute(a, order), {spec, back}), a));
}

TEST_CASE("permuting moves the elements as w[p] says") {
    model a;
    networks::assign(a.add("w", dtype::f32, {3, 4}), {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
    networks::assign(a.add("v", dtype::f32, {2, 6}), {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15});
    const auto spec = std::make_shared<const bound_spec>(
        bind(permutation_spec{}.tensor("w", "h _").tensor("v", "_ (h _)"), a));
    const model b = permute(a, {spec, {unit_map(permutation({2, 0, 1}))}});
    CHECK(networks::values(b.at("w")) == std::vector<double>{20, 21, 22, 23, 0, 1, 2, 3, 10, 11, 12, 13});
    CHECK(networks::values(b.at("v")) == std::vector<double>{4, 5, 0, 1, 2, 3, 14, 15, 10, 11, 12, 13});
    const model c = permute(a, {spec, {unit_map(permutation({2, 0, 1}), {2, 1, 4})}});
    CHECK(networks::values(c.at("w")) == std::vector<double>{40, 42, 44, 46, 0, 1, 2, 3, 40, 44, 48, 52});
    CHECK(networks::values(c.at("v")) == std::vector<double>{2, 2.5, 0, 1, .5, .75, 7, 7.5, 10, 11, 3, 3.25});
}

TEST_CASE("a map of another checkpoint is refused") {
    const auto net = networks::mlp({5, 30, 3});
    const model a = networks::random_model(net, 1);
    const auto spec = networks::bound(net, a);
    CHECK_THROWS_AS(permute(networks::random_model(networks::mlp({5, 31, 3}), 1), model_map::identity(spec)),
                    shape_error);
    CHECK_THROWS_AS(permute(model{}, model_map::identity(spec)), spec_error);
    CHECK_THROWS_AS(model_map(spec, {}), shape_error);
    CHECK_THROWS_AS(model_map(spec, {unit_map(permutation::identity(29))}), shape_error);
    CHECK_THROWS_AS(model_map::identity(spec).group("h7"), spec_error);
}

TEST_CASE("a scale does not touch integers: it is refused") {
    model a;
    a.add("mask", dtype::i8, {4, 3});
    networks::assign(a.add("w", dtype::f32, {2, 4}), std::vector<double>(8, 1));
    const auto spec = std::make_shared<const bound_spec>(bind(permutation_spec{}.tensor("mask", "h _").tensor("w", "_ h"), a));
    CHECK_NOTHROW(permute(a, {spec, {unit_map(permutation({1, 0, 3, 2}))}}));
    CHECK_THROWS_AS(permute(a, {spec, {unit_map(permutation({1, 0, 3, 2}), {2, 2, 2, 2})}}), dtype_error);
    CHECK_THROWS_AS(unit_map(permutation({0}), {1e-310}), value_error);
}
