#pragma once

#include <plait/core/instruction_set.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace plait::detail {

inline constexpr unsigned digit_bits = 16;

template <class Key, std::floating_point F>
PLAIT_ALWAYS_INLINE inline Key magnitude_bits(F x) {
    using number = std::conditional_t<sizeof(Key) == sizeof(float), float, double>;
    return std::bit_cast<Key>(std::fabs(static_cast<number>(x)));
}

/// Counts the next digit of the magnitudes, as bits of floats or doubles, whose first `found` digits are those of
/// `start`.   Complexity: O(n).
template <class Key, std::floating_point F>
void count_digits(std::span<const F> values, unsigned found, std::uint64_t start, std::span<std::uint64_t> digits) {
    constexpr std::size_t tile = 256;
    constexpr Key last_digit = (Key{1} << digit_bits) - 1;
    const unsigned shift = sizeof(Key) * 8 - digit_bits * (found + 1);
    const auto prefix = static_cast<Key>(found == 0 ? 0 : start >> (shift + digit_bits));
    std::array<Key, tile> keys;
    for (std::size_t first = 0; first < values.size(); first += tile) {
        const std::size_t n = std::min(tile, values.size() - first);
        const F* x = values.data() + first;
        bool has_candidates = found == 0;
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            Key any = 0;
            for (std::size_t e = 0; e < n; ++e) keys[e] = magnitude_bits<Key>(x[e]);
            if (found > 0)
                for (std::size_t e = 0; e < n; ++e) any |= keys[e] >> (shift + digit_bits) == prefix ? Key{1} : Key{0};
            has_candidates |= any != 0;
        });
        if (found == 0)
            for (std::size_t e = 0; e < n; ++e) ++digits[keys[e] >> shift];
        else if (has_candidates)
            for (std::size_t e = 0; e < n; ++e)
                if (keys[e] >> (shift + digit_bits) == prefix) ++digits[(keys[e] >> shift) & last_digit];
    }
}

} // namespace plait::detail
