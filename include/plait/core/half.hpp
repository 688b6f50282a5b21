#pragma once

#include <plait/config.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

namespace plait {
namespace detail {

inline constexpr std::uint32_t f32_sign = 0x80000000U;
inline constexpr std::uint32_t f32_infinity = 0x7F800000U;

/// The nearest float towards zero, with its last bit set when d lies between two floats ("round to odd"). Rounding the
/// result to a narrower type gives the double rounded ONCE.   Source: Boldo and Melquiond 2008.
inline float round_to_odd(double d) noexcept {
    const auto f = static_cast<float>(d);
    const double back = f;
    if (back == d || d != d) return f;
    auto bits = std::bit_cast<std::uint32_t>(f);
    if (std::fabs(back) > std::fabs(d)) --bits;
    return std::bit_cast<float>(bits | 1U);
}

} // namespace detail

/// IEEE 754 binary16. Conversions round to nearest, ties to even; overflow gives infinity; a NaN becomes a
/// quiet one.
struct float16 {
    std::uint16_t bits = 0;

    float16() = default;
    explicit float16(float f) noexcept : bits(narrow(f)) {}
    explicit float16(double d) noexcept : float16(detail::round_to_odd(d)) {}
    explicit operator float() const noexcept { return widen(bits); }
    explicit operator double() const noexcept { return widen(bits); }
    bool operator==(const float16&) const = default; ///< compares bits

private:
    static constexpr std::uint32_t exponent_shift = 112U << 23; // the difference of the exponent biases
    static float widen(std::uint16_t h) noexcept {
        const std::uint32_t sign = (h & 0x8000U) << 16;
        const std::uint32_t rest = (h & 0x7FFFU) << 13;
        // Scaling by 2^112 adds the difference of the biases, for subnormal numbers too, and is exact.
        const float scaled = std::bit_cast<float>(rest) * 0x1p112F;
        const auto finite = std::bit_cast<std::uint32_t>(scaled);
        const std::uint32_t quiet = rest > 0x0F800000U ? 0x00400000U : 0; // as processors do
        return std::bit_cast<float>(sign | (rest >= 0x0F800000U ? rest | detail::f32_infinity | quiet : finite));
    }

    static std::uint16_t narrow(float f) noexcept {
        const auto u = std::bit_cast<std::uint32_t>(f);
        const std::uint32_t sign = (u & detail::f32_sign) >> 16;
        const std::uint32_t magnitude = u & ~detail::f32_sign;
        std::uint32_t half = 0;
        if (magnitude > detail::f32_infinity) {
            half = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
        } else if (magnitude >= 0x477FF000U) { // rounds to 65536 or more
            half = 0x7C00U;
        } else if (magnitude < 0x38800000U) { // subnormal: adding 0.5 lets the processor round to 2^-24
            half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
        } else {
            half = (magnitude - exponent_shift + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
        }
        return static_cast<std::uint16_t>(sign | half);
    }
};

/// bfloat16: the upper half of a float. Conversions round to nearest, ties to even; a NaN stays a NaN.
struct bfloat16 {
    std::uint16_t bits = 0;

    bfloat16() = default;
    explicit bfloat16(float f) noexcept : bits(narrow(f)) {}
    explicit bfloat16(double d) noexcept : bfloat16(detail::round_to_odd(d)) {}
    explicit operator float() const noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
    explicit operator double() const noexcept { return static_cast<float>(*this); }
    bool operator==(const bfloat16&) const = default; ///< compares bits

private:
    static std::uint16_t narrow(float f) noexcept {
        const auto u = std::bit_cast<std::uint32_t>(f);
        const bool is_nan = (u & ~detail::f32_sign) > detail::f32_infinity;
        const std::uint32_t rounded = (u + 0x7FFFU + ((u >> 16) & 1U)) >> 16;
        return static_cast<std::uint16_t>(is_nan ? (u >> 16) | 0x40U : rounded);
    }
};

} // namespace plait
