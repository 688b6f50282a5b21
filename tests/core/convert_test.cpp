#include <plait/core/convert.hpp>
#include <plait/core/random.hpp>

#include "support/catch.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using plait::bfloat16;
using plait::float16;

namespace {

/// Doubles of all kinds: any bits, near ties of halves and bfloats, around the ends of their ranges.
std::vector<double> doubles_of_all_kinds(std::size_t count) {
    constexpr std::array<std::uint64_t, 6> near_tie{0, 1, 0xFFFFFFFF, 1ULL << 28, 1ULL << 41, 1ULL << 44};
    plait::counter_random random(1);
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = random();
        const auto exponent = [&](std::uint64_t from, std::size_t range) {
            bits = (bits & ~(0x7FFULL << 52)) | ((1023 + from + random.below(range)) << 52);
        };
        const std::size_t kind = i / 16 % 5; // steps of one kind, which are converted together
        if (kind == 1) exponent(std::uint64_t(-150), 300);
        if (kind == 2) exponent(std::uint64_t(-30), 50);
        if (kind >= 3) {
            exponent(std::uint64_t(-8), 16);
            const unsigned cut = kind == 3 ? 42 : 45; // behind the last bit of a half and of a bfloat
            bits = (bits >> cut << cut) ^ near_tie[random.below(near_tie.size())];
        }
        numbers[i] = random.below(50) == 0 ? 0.0 : std::bit_cast<double>(bits);
    }
    return numbers;
}

template <class T>
bool is_same(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

} // namespace

TEMPLATE_TEST_CASE("many doubles are narrowed as each of them", "", float, float16, bfloat16, double) {
    const auto numbers = doubles_of_all_kinds(200'007);
    std::vector<std::byte> memory(numbers.size() * sizeof(TestType) + 1);
    std::byte* misaligned = memory.data() + 1;
    plait::detail::narrow<TestType>(numbers.data(), numbers.size(), misaligned);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto found = plait::detail::load_as<TestType>(misaligned + i * sizeof(TestType));
        const auto expected = static_cast<TestType>(numbers[i]);
        wrong += !is_same(found, expected) && numbers[i] == numbers[i];
        wrong += numbers[i] != numbers[i] && !(static_cast<double>(found) != static_cast<double>(found));
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("all halves are widened as each of them", "", float16, bfloat16) {
    constexpr std::size_t count = 65536;
    std::vector<std::byte> memory(2 * count + 1);
    std::byte* misaligned = memory.data() + 1;
    for (std::size_t i = 0; i < count; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        std::memcpy(misaligned + 2 * i, &bits, sizeof(bits));
    }
    std::vector<float> floats(count);
    std::vector<double> doubles(count);
    std::size_t wrong = 0;
    for (const std::size_t first : {std::size_t{0}, std::size_t{3}}) { // from different places in a step
        plait::detail::widen<TestType>(misaligned + 2 * first, count - first, floats.data());
        plait::detail::widen<TestType>(misaligned + 2 * first, count - first, doubles.data());
        for (std::size_t i = 0; i < count - first; ++i) {
            const auto x = plait::detail::load_as<TestType>(misaligned + 2 * (first + i));
            const auto expected = static_cast<float>(x);
            wrong += !is_same(floats[i], expected);
            wrong += !is_same(doubles[i], static_cast<double>(expected));
        }
    }
    CHECK(wrong == 0);
}
