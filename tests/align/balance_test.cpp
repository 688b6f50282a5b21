#include "support/catch.hpp"
#include "support/networks.hpp"

#include <plait/align/align.hpp>
#include <plait/align/permute.hpp>
#include <plait/align/weight_matching.hpp>

using namespace plait;

namespace {

// Every hidden unit's writers times s, its readers divided by s.
model rescaled(const networks::architecture& net, const model& m, std::uint64_t seed) {
    counter_random random(seed);
    const auto spec = networks::bound(net, m);
    std::vector<unit_map> maps;
    for (const auto& g : spec->groups()) {
        std::vector<double> scales(g.size);
        for (double& s : scales) s = g.activation == activation::relu ? std::exp(6 * random.uniform() - 3) : 1;
        maps.emplace_back(permutation::identity(g.size), scales);
    }
    return permute(m, {spec, maps});
}

} // namespace

TEST_CASE("balancing leaves the function as it is and makes the norms equal") {
    const auto net = networks::mlp({6, 20, 15, 4});
    const model a = rescaled(net, networks::random_model(net, 1, dtype::f64), 2);
    const alignment found = align({a}, weight_matching{net.spec, {.balance = true}});
    const model balanced = permute(a, found.model(0));
    CHECK(networks::largest_difference(net.forward(balanced), net.forward(a)) < 1e-9);

    const auto w1 = networks::values(balanced.at("fc1.weight"));
    const auto b1 = networks::values(balanced.at("fc1.bias"));
    const auto w2 = networks::values(balanced.at("fc2.weight"));
    for (std::size_t i = 0; i < 20; ++i) {
        double in = b1[i] * b1[i];
        double out = 0;
        for (std::size_t k = 0; k < 6; ++k) in += w1[i * 6 + k] * w1[i * 6 + k];
        for (std::size_t k = 0; k < 15; ++k) out += w2[k * 20 + i] * w2[k * 20 + i];
        CHECK(in == Catch::Approx(out).epsilon(1e-4));
    }
}

TEST_CASE("rescaled and reordered copies are recognised once they are balanced") {
    const auto net = networks::mlp({6, 40, 30, 4});
    int plain = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const model a = networks::random_model(net, seed);
        const auto planted = networks::random_order(networks::bound(net, a), seed + 10);
        const model b = permute(rescaled(net, a, seed + 20), planted);
        const auto recovers = [&](bool balance) {
            const alignment found = align({a, b}, weight_matching{net.spec, {.balance = balance}});
            bool all = true;
            for (std::size_t g = 0; g < planted.size(); ++g)
                all = all && compose(planted[g].permutation(), found.model(1)[g].permutation()).moved() == 0;
            return all;
        };
        CHECK(recovers(true));
        plain += recovers(false);
    }
    CHECK(plain < 10);
}

TEST_CASE("units with nothing on one side are left as they are") {
    const auto net = networks::mlp({6, 20, 4});
    model a = networks::random_model(net, 1);
    auto numbers = networks::values(a.at("fc2.weight"));
    for (std::size_t k = 0; k < 4; ++k) numbers[k * 20 + 3] = 0; // nobody reads unit 3
    networks::assign(a.at("fc2.weight"), numbers);
    const alignment found = align({a}, weight_matching{net.spec, {.balance = true}});
    CHECK(found.model(0)[0].scales()[3] == 1);
    CHECK(networks::largest_difference(net.forward(permute(a, found.model(0))), net.forward(a)) < 1e-5);
}

TEST_CASE("a normalisation between writers and readers cannot be balanced") {
    auto net = networks::convolutional();
    const model a = networks::random_model(net, 1);
    CHECK_NOTHROW(align({a, a}, weight_matching{net.spec, {.balance = true}})); // c is opaque
    net.spec.units("c", activation::relu);
    CHECK_THROWS_WITH(align({a, a}, weight_matching{net.spec, {.balance = true}}),
                      Catch::Contains("\"c\"") && Catch::Contains("opaque"));
    CHECK_NOTHROW(align({a, a}, weight_matching{net.spec}));
}

TEST_CASE("balancing without a rectified group is refused, not ignored") {
    const auto spec = permutation_spec{}.tensor("fc1.weight", "h1 _").tensor("fc1.bias", "h1")
                          .tensor("fc2.weight", "_ h1").tensor("fc2.bias", "_");
    const model a = networks::random_model(networks::mlp({6, 20, 4}), 1);
    CHECK_THROWS_AS(align({a, a}, weight_matching{spec, {.balance = true}}), option_error);
}
