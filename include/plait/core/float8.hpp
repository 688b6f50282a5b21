#pragma once

#include <plait/core/half.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace plait {
namespace detail {

/// Conversions of an 8-bit type with so many bits of exponent and fraction. Without infinities the last code of the
/// last exponent is NaN and the others are numbers.   Source: Micikevicius et al. 2022.
template <int ExponentBits, int FractionBits, bool HasInfinity>
struct float8_codec {
    static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    static constexpr std::uint8_t infinity = ((1U << ExponentBits) - 1) << FractionBits;
    static constexpr std::uint8_t nan = HasInfinity ? infinity + (1U << (FractionBits - 1)) : 0x7F;

    static float widen(std::uint8_t code) noexcept { return values[code]; }

    static std::uint8_t narrow(float f) noexcept {
        constexpr int dropped = 23 - FractionBits;
        constexpr float smallest_normal = scaled(1, 1 - bias);
        constexpr float rounder =
            scaled(1, 24 - bias - FractionBits); // sums with it are rounded to the steps of small numbers
        const auto u = std::bit_cast<std::uint32_t>(f);
        const auto sign = static_cast<std::uint8_t>((u & f32_sign) >> 24);
        const std::uint32_t magnitude = u & ~f32_sign;
        if (magnitude > f32_infinity) return sign | nan;
        std::uint32_t code = 0;
        if (const auto m = std::bit_cast<float>(magnitude); m < smallest_normal) {
            code = std::bit_cast<std::uint32_t>(m + rounder) - std::bit_cast<std::uint32_t>(rounder);
        } else {
            const std::uint32_t half = (1U << (dropped - 1)) - 1 + ((magnitude >> dropped) & 1U);
            code = (magnitude - (static_cast<std::uint32_t>(127 - bias) << 23) + half) >> dropped;
        }
        constexpr std::uint32_t behind = HasInfinity ? infinity : 0x7F; // the largest number
        if (code >= behind) code = behind;
        return static_cast<std::uint8_t>(sign | code);
    }

private:
    static constexpr float scaled(float x, int exponent) {
        for (; exponent > 0; --exponent) x *= 2;
        for (; exponent < 0; ++exponent) x /= 2;
        return x;
    }

    static constexpr std::array<float, 256> values = [] {
        std::array<float, 256> all{};
        for (unsigned code = 0; code < 128; ++code) {
            const int exponent = static_cast<int>(code >> FractionBits);
            const auto fraction = static_cast<float>(code & ((1U << FractionBits) - 1));
            float value = exponent == 0 ? scaled(fraction, 1 - bias - FractionBits)
                                        : scaled(fraction + (1U << FractionBits), exponent - bias - FractionBits);
            if (HasInfinity && code == infinity) value = std::numeric_limits<float>::infinity();
            if (HasInfinity ? code > infinity : code == nan) value = std::numeric_limits<float>::quiet_NaN();
            all[code] = value;
            all[code + 128] = -value;
        }
        return all;
    }();
};

/// Conversions round to nearest, ties to even.
template <class Codec>
struct float8 {
    std::uint8_t bits = 0;

    float8() = default;
    explicit float8(float f) noexcept : bits(Codec::narrow(f)) {}
    explicit float8(double d) noexcept : float8(round_to_odd(d)) {}
    explicit operator float() const noexcept { return Codec::widen(bits); }
    explicit operator double() const noexcept { return Codec::widen(bits); }
    bool operator==(const float8&) const = default; ///< compares bits
};

} // namespace detail

/// F8_E4M3: 4 bits of exponent, 3 of fraction, up to 448; no infinities: overflow gives NaN.
using float8_e4m3 = detail::float8<detail::float8_codec<4, 3, false>>;
/// F8_E5M2: 5 bits of exponent, 2 of fraction, up to 57344; overflow gives infinity.
using float8_e5m2 = detail::float8<detail::float8_codec<5, 2, true>>;

} // namespace plait
