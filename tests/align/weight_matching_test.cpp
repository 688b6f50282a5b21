#include "support/catch.hpp"
#include "support/networks.hpp"

#include <plait/align/align.hpp>
#include <plait/align/permute.hpp>
#include <plait/align/weight_matching.hpp>
#include <plait/match/greedy.hpp>

#include <limits>
#include <string>

using namespace plait;
using networks::architecture;

namespace {

bool recovers(const architecture& net, std::uint64_t seed, double noise, descent_start start) {
    const model a = networks::random_model(net, seed, dtype::f32, networks::scale::unit);
    const auto planted = networks::random_order(networks::bound(net, a), seed + 1000);
    const model b = networks::with_noise(permute(a, planted), noise, seed + 2000);
    const alignment found = align({a, b}, weight_matching{net.spec, {.start = start}});
    for (std::size_t g = 0; g < planted.size(); ++g)
        if (compose(planted[g].permutation(), found.model(1)[g].permutation()).moved() != 0) return false;
    return true;
}

int recovered(const architecture& net, int trials, double noise, descent_start start) {
    int count = 0;
    for (int k = 0; k < trials; ++k) count += recovers(net, static_cast<std::uint64_t>(k), noise, start);
    return count;
}

} // namespace

// The families of planted permutations on which descent from the identity is known to fail.
TEST_CASE("planted permutations are recovered from the anchored start", "[planted]") {
    struct family {
        std::string name;
        architecture net;
        int trials;
        double noise;
        int most_from_identity;
    };
    const std::vector<family> families{
        {"MLP 20-50-50-50-10", networks::mlp({20, 50, 50, 50, 10}), 40, 0, 40},
        {"MLP 20-50-50-50-10, noise", networks::mlp({20, 50, 50, 50, 10}), 40, 0.5, 40},
        {"residual 30/50, 2 blocks, 8 in and out", networks::residual(30, 50, 2, 8, 8), 40, 0, 39},
        {"residual 30/50, 2 blocks, 8 in and out, noise", networks::residual(30, 50, 2, 8, 8), 40, 0.5, 39},
        {"residual 30/50, 4 blocks, 2 in and out", networks::residual(30, 50, 4, 2, 2), 40, 0, 20},
        {"residual 30/50, 4 blocks, 2 in and out, noise", networks::residual(30, 50, 4, 2, 2), 40, 0.5, 20},
        {"MLP 2-100x5-2", networks::mlp({2, 100, 100, 100, 100, 100, 2}), 20, 0, 5},
        {"MLP 2-100x5-2, noise", networks::mlp({2, 100, 100, 100, 100, 100, 2}), 20, 0.5, 5}};
    for (const family& f : families) {
        const architecture net = networks::without_biases(f.net); // a bias alone would tell units apart
        const int anchored = recovered(net, f.trials, f.noise, descent_start::anchored);
        const int identity = recovered(net, f.trials, f.noise, descent_start::identity);
        INFO(f.name << ": anchored " << anchored << ", identity " << identity << " of " << f.trials);
        WARN(f.name << ": anchored " << anchored << ", identity " << identity << " of " << f.trials);
        CHECK(anchored == f.trials);
        CHECK(identity <= f.most_from_identity);
    }
}
