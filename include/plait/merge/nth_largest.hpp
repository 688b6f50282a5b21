#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace plait::detail {

/// The key that `rank` keys come before when the largest come first; rank < keys.size(). Counts the keys by the first
/// bits in which they differ, and goes on among those of one count: no branches to be mispredicted.   Complexity: O(n).
template <std::unsigned_integral Key>
Key nth_largest(std::span<const Key> keys, std::size_t rank) {
    constexpr std::size_t few = 512;
    constexpr int bits = 11;
    constexpr std::size_t bins = std::size_t{1} << bits;
    std::vector<Key> own;
    while (keys.size() > few) {
        Key differing = 0;
        for (const Key key : keys) differing |= key ^ keys[0];
        if (differing == 0) return keys[0];
        const int shift = std::max(0, static_cast<int>(std::bit_width(differing)) - bits);
        const auto bin_of = [shift](Key key) { return static_cast<std::size_t>(key >> shift) & (bins - 1); };
        std::array<std::size_t, bins> counts{};
        for (const Key key : keys) ++counts[bin_of(key)];
        std::size_t bin = bins - 1;
        for (; rank >= counts[bin]; --bin) rank -= counts[bin];
        std::vector<Key> in_bin(counts[bin] + 1); // one more, to be written in vain
        std::size_t found = 0;
        for (const Key key : keys) {
            in_bin[found] = key;
            found += bin_of(key) == bin;
        }
        in_bin.resize(found);
        own = std::move(in_bin);
        keys = own;
    }
    std::vector<Key> rest(keys.begin(), keys.end());
    const auto at = rest.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(rest, at, std::ranges::greater{});
    return *at;
}

} // namespace plait::detail
