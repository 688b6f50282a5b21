#include <plait/core/half.hpp>

#include "support/catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

using plait::bfloat16;
using plait::float16;

namespace {

template <class Half>
constexpr int fraction_bits = 10;
template <>
constexpr int fraction_bits<bfloat16> = 7;

template <class Half>
Half from_bits(unsigned bits) {
    Half h;
    h.bits = static_cast<std::uint16_t>(bits);
    return h;
}

template <class Half>
constexpr unsigned infinity = 0x7FFFU & ~((1U << fraction_bits<Half>)-1);

// Sign, exponent and fraction as IEEE 754 defines them; the exponent after the last is the number behind the largest.
template <class Half>
double by_definition(unsigned bits) {
    const int f = fraction_bits<Half>;
    const int exponent = static_cast<int>((bits & 0x7FFFU) >> f);
    const int bias = (1 << (14 - f)) - 1;
    const auto fraction = static_cast<double>(bits & ((1U << f) - 1));
    const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias - f)
                                           : std::ldexp(fraction + std::ldexp(1, f), exponent - bias - f);
    return bits & 0x8000U ? -magnitude : magnitude;
}

template <class Half>
bool is_nan(unsigned bits) {
    return (bits & 0x7FFFU) > infinity<Half>;
}

template <class Half>
void check_widening() {
    unsigned wrong = 0;
    for (unsigned bits = 0; bits <= 0xFFFFU; ++bits) {
        const auto wide = static_cast<float>(from_bits<Half>(bits));
        const auto wider = static_cast<double>(from_bits<Half>(bits));
        if (is_nan<Half>(bits)) {
            wrong += !std::isnan(wide) || !std::isnan(wider);
            continue;
        }
        const bool is_infinite = (bits & 0x7FFFU) == infinity<Half>;
        const double expected = is_infinite ? (bits & 0x8000U ? -HUGE_VAL : HUGE_VAL) : by_definition<Half>(bits);
        wrong += wider != expected || static_cast<double>(wide) != expected;
        wrong += std::signbit(wide) != (bits >= 0x8000U);
    }
    CHECK(wrong == 0);
}

template <class Half>
void check_round_trip() {
    unsigned wrong = 0;
    for (unsigned bits = 0; bits <= 0xFFFFU; ++bits) {
        const auto half = from_bits<Half>(bits);
        // A NaN comes back quiet, with its sign and payload.
        const unsigned expected = is_nan<Half>(bits) ? bits | (1U << (fraction_bits<Half> - 1)) : bits;
        wrong += Half(static_cast<float>(half)).bits != expected;
        wrong += Half(static_cast<double>(half)).bits != expected;
    }
    CHECK(wrong == 0);
}

// Between every two neighbours: the middle goes to the even one, whatever is off the middle to the nearer one.
template <class Half, class Wide>
void check_rounding() {
    unsigned wrong = 0;
    const auto narrow = [](Wide x) { return static_cast<unsigned>(Half(x).bits); };
    for (unsigned below = 0; below < infinity<Half>; ++below) {
        const unsigned above = below + 1;
        const double exact = std::midpoint(by_definition<Half>(below), by_definition<Half>(above));
        const auto middle = static_cast<Wide>(exact);
        const Wide less = std::nextafter(middle, Wide{0});
        const Wide more = std::nextafter(middle, std::numeric_limits<Wide>::infinity());
        wrong += narrow(middle) != (below % 2 == 0 ? below : above);
        wrong += narrow(less) != below;
        wrong += narrow(more) != above;
        wrong += narrow(-middle) != (narrow(middle) | 0x8000U);
        wrong += narrow(-less) != (below | 0x8000U);
        wrong += narrow(-more) != (above | 0x8000U);
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("all 65,536 halves and bfloats widen to the number that their bits define") {
    check_widening<float16>();
    check_widening<bfloat16>();
}

TEST_CASE("every half and bfloat survives widening and narrowing, a NaN as a quiet NaN") {
    check_round_trip<float16>();
    check_round_trip<bfloat16>();
}

TEST_CASE("floats narrow to the nearest number, ties to even, through subnormals and up to infinity") {
    check_rounding<float16, float>();
    check_rounding<bfloat16, float>();
}

TEST_CASE("doubles narrow to the nearest number, ties to even, rounded once") {
    check_rounding<float16, double>();
    check_rounding<bfloat16, double>();
}

TEST_CASE("a double just above a tie rounds up, where rounding by way of float rounds down") {
    const double d = 1 + 0x1p-11 + 0x1p-40;
    CHECK(static_cast<double>(float16(static_cast<float>(d))) == 1);
    CHECK(static_cast<double>(float16(d)) == 1 + 0x1p-10);
    const double b = 1 + 0x1p-8 + 0x1p-40;
    CHECK(static_cast<double>(bfloat16(static_cast<float>(b))) == 1);
    CHECK(static_cast<double>(bfloat16(b)) == 1 + 0x1p-7);
}

TEST_CASE("what is too large becomes infinity and what is too small becomes zero, with its sign") {
    for (const double huge : {65520.0, 1e30, 1e300, HUGE_VAL}) {
        CHECK(float16(huge).bits == 0x7C00);
        CHECK(float16(-huge).bits == 0xFC00);
    }
    CHECK(float16(65519.999).bits == 0x7BFF);
    for (const double huge : {3.4e38, 1e300, HUGE_VAL}) {
        CHECK(bfloat16(huge).bits == 0x7F80);
        CHECK(bfloat16(-huge).bits == 0xFF80);
    }
    for (const double tiny : {0.0, 5e-324, 1e-50, 0x1p-26}) {
        CHECK(float16(tiny).bits == 0);
        CHECK(float16(-tiny).bits == 0x8000);
    }
    CHECK(float16(0x1p-24).bits == 1);
    CHECK(bfloat16(1e-50).bits == 0);
    CHECK(bfloat16(-1e-50).bits == 0x8000);
}

TEST_CASE("a NaN stays a NaN, even when its payload lies in the bits that are cut off") {
    for (const std::uint32_t bits : {0x7F800001U, 0xFF800001U, 0x7FC00000U, 0x7FFFFFFFU}) {
        CHECK(is_nan<float16>(float16(std::bit_cast<float>(bits)).bits));
        CHECK(is_nan<bfloat16>(bfloat16(std::bit_cast<float>(bits)).bits));
    }
    for (const std::uint64_t bits : {0x7FF0000000000001ULL, 0xFFF8000000000000ULL}) {
        CHECK(is_nan<float16>(float16(std::bit_cast<double>(bits)).bits));
        CHECK(is_nan<bfloat16>(bfloat16(std::bit_cast<double>(bits)).bits));
    }
}
