// Ranges that make their models while they are read. clang 14 cannot compile views with the library of g++ 12.
#include "support/catch.hpp"
#include "support/networks.hpp"

#include <plait/fuse/fuse.hpp>
#include <plait/merge/average.hpp>

#if !defined(__clang__) || __clang_major__ > 15
#include <ranges>

using namespace plait;

TEST_CASE("models that a range makes on the way are taken over") {
    const auto net = networks::mlp({6, 20, 4});
    const std::vector<std::uint64_t> seeds{1, 2, 3};
    const auto make = [&](std::uint64_t seed) { return networks::random_model(net, seed); };
    const auto made = seeds | std::views::transform(make);
    CHECK(networks::same_bits(fuse(made, average{}), fuse({make(1), make(2), make(3)}, average{})));
}
#endif
