#include <plait/core/float8.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

using plait::float8_e4m3;
using plait::float8_e5m2;

namespace {

template <class T>
constexpr int fraction_bits = 3;
template <>
constexpr int fraction_bits<float8_e5m2> = 2;

template <class T>
T from_bits(unsigned bits) {
    T x;
    x.bits = static_cast<std::uint8_t>(bits);
    return x;
}

// The codes of finite numbers that are not negative, in order.
template <class T>
unsigned finite_codes() {
    return fraction_bits<T> == 3 ? 0x7F : 0x7C;
}

template <class T>
double by_definition(unsigned code) {
    const int f = fraction_bits<T>;
    const int bias = (1 << (6 - f)) - 1;
    const int exponent = static_cast<int>(code >> f);
    const double fraction = std::ldexp(code & ((1U << f) - 1), -f);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

} // namespace

TEMPLATE_TEST_CASE("8-bit floats are what their definitions say", "", float8_e4m3, float8_e5m2) {
    for (unsigned code = 0; code < finite_codes<TestType>(); ++code) {
        CHECK(static_cast<double>(from_bits<TestType>(code)) == by_definition<TestType>(code));
        CHECK(static_cast<float>(from_bits<TestType>(code | 0x80U)) == -static_cast<float>(from_bits<TestType>(code)));
    }
    CHECK(std::signbit(static_cast<float>(from_bits<TestType>(0x80))));
    CHECK(std::isnan(static_cast<float>(from_bits<TestType>(0x7F))));
    CHECK(std::isnan(static_cast<float>(from_bits<TestType>(0xFF))));
    CHECK(std::isinf(static_cast<float>(from_bits<TestType>(0x7C))) == (fraction_bits<TestType> == 2));
}

TEMPLATE_TEST_CASE("8-bit floats round to the nearest, to the even one of two", "", float8_e4m3, float8_e5m2) {
    const auto code_of = [](double x) { return unsigned{TestType(x).bits}; };
    const auto check_both_signs = [&](double x, unsigned expected) {
        CHECK(code_of(x) == expected);
        CHECK(code_of(-x) == (expected | 0x80U));
        if (static_cast<double>(static_cast<float>(x)) == x) CHECK(TestType(static_cast<float>(x)).bits == expected);
    };
    for (unsigned code = 0; code + 1 < finite_codes<TestType>(); ++code) {
        const double low = by_definition<TestType>(code);
        const double high = by_definition<TestType>(code + 1);
        const double middle = (low + high) / 2;
        check_both_signs(low, code);
        check_both_signs(std::nextafter(middle, 0), code);
        check_both_signs(middle, code % 2 == 0 ? code : code + 1);
        check_both_signs(std::nextafter(middle, high), code + 1);
    }
}

TEST_CASE("what is too large becomes infinite in F8_E5M2 and NaN in F8_E4M3") {
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(static_cast<float>(float8_e4m3(464.0)) == 448);
    CHECK(std::isnan(static_cast<float>(float8_e4m3(464.1))));
    CHECK(std::isnan(static_cast<float>(float8_e4m3(-infinity))));
    CHECK(static_cast<float>(float8_e5m2(61439.9)) == 57344);
    CHECK(static_cast<double>(float8_e5m2(61440.0)) == infinity);
    CHECK(static_cast<double>(float8_e5m2(-1e300)) == -infinity);
    CHECK(std::isnan(static_cast<float>(float8_e5m2(std::nan("")))));
    CHECK(std::isnan(static_cast<float>(float8_e4m3(std::nan("")))));
}
