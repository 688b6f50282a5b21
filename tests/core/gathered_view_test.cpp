#include <plait/core/gathered_view.hpp>
#include <plait/core/random.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

using namespace plait;

namespace {

/// A random nest of loops over memory of its own, with the first element `misalignment` bytes off.
struct nest {
    std::vector<axis_level> levels;
    std::vector<std::vector<std::size_t>> orders; // a heap address each: levels point to them
    std::vector<std::vector<double>> scales;
    std::vector<std::byte> memory;
    const std::byte* first = nullptr;
    std::size_t size = 1;

    nest(counter_random& random, std::size_t width, bool reordered) {
        const std::size_t rank = random.below(5);
        const bool dense = random.below(2) == 0;
        orders.resize(rank);
        scales.resize(rank);
        levels.resize(rank);
        std::ptrdiff_t step = 1;
        std::ptrdiff_t lowest = 0;
        std::ptrdiff_t highest = 0;
        for (std::size_t k = rank; k-- > 0;) {
            const std::size_t extent = random.below(20) == 0 ? 0 : 1 + random.below(5);
            const auto stride = dense ? step : static_cast<std::ptrdiff_t>(random.below(15)) - 7;
            step *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(extent, 1));
            levels[k] = {extent, stride};
            if (extent) {
                const auto reach = static_cast<std::ptrdiff_t>(extent - 1) * stride;
                (reach < 0 ? lowest : highest) += reach;
            }
            if (reordered && random.below(3) == 0 && extent) {
                for (std::size_t i = 0; i < extent; ++i) orders[k].push_back(random.below(extent));
                levels[k].order = orders[k].data();
            }
            if (reordered && random.below(4) == 0 && extent) {
                const std::array factors{-2.0, 0.5, 3.0, 1.0};
                for (std::size_t i = 0; i < extent; ++i) scales[k].push_back(factors[random.below(4)]);
                levels[k].scale = scales[k].data();
            }
            size *= extent;
        }
        const std::size_t misalignment = random.below(3);
        memory.resize(static_cast<std::size_t>(highest - lowest + 1) * width + misalignment);
        first = memory.data() + misalignment - lowest * static_cast<std::ptrdiff_t>(width);
        for (std::byte& b : memory) b = static_cast<std::byte>(random());
    }

    template <class T>
    void fill_with_numbers() {
        const auto misalignment = static_cast<std::size_t>(memory.size() % sizeof(T));
        for (std::size_t i = 0; misalignment + (i + 1) * sizeof(T) <= memory.size(); ++i) {
            const T x(static_cast<float>(static_cast<int>(i % 97) - 48) / 8);
            std::memcpy(&memory[misalignment + i * sizeof(T)], &x, sizeof(T));
        }
    }

    // Where logical element i lies, in elements, and what it is multiplied by: the definition, level by level.
    std::pair<std::ptrdiff_t, double> element(std::size_t i) const {
        std::ptrdiff_t offset = 0;
        double scale = 1;
        for (std::size_t k = levels.size(); k-- > 0; i /= levels[k].extent) {
            const std::size_t position = i % levels[k].extent;
            const std::size_t source = orders[k].empty() ? position : orders[k][position];
            offset += static_cast<std::ptrdiff_t>(source) * levels[k].stride;
            if (!scales[k].empty()) scale *= scales[k][position];
        }
        return {offset, scale};
    }

    template <class T>
    double number(std::size_t i) const {
        const auto [offset, scale] = element(i);
        T x;
        std::memcpy(&x, first + offset * static_cast<std::ptrdiff_t>(sizeof(T)), sizeof(T));
        return static_cast<double>(x) * scale; // exact: eighths of small integers
    }
};

template <class F>
std::vector<F> read_all(const gathered_view& view) {
    std::vector<F> out(view.size());
    view.read(0, out.size(), out.data());
    return out;
}

template <class T>
void check_reading(std::uint64_t seed) {
    counter_random random(seed);
    std::size_t wrong = 0;
    for (int round = 0; round < 300; ++round) {
        nest n(random, sizeof(T), true);
        n.fill_with_numbers<T>();
        const gathered_view view(dtype_of<T>::value, n.first, n.levels);
        REQUIRE(view.size() == n.size);
        const auto doubles = read_all<double>(view);
        const auto floats = read_all<float>(view);
        for (std::size_t i = 0; i < n.size; ++i) {
            wrong += doubles[i] != n.number<T>(i);
            wrong += floats[i] != static_cast<float>(n.number<T>(i));
        }
        std::vector<double> pieces(n.size);
        for (std::size_t at = 0; at < n.size;) {
            const std::size_t count = std::min(n.size - at, random.below(8));
            view.read(at, count, pieces.data() + at);
            at += count;
        }
        wrong += pieces != doubles;
    }
    CHECK(wrong == 0);
}

template <class F>
void check_in_place(std::uint64_t seed) {
    counter_random random(seed);
    std::size_t wrong = 0;
    std::size_t given = 0;
    for (int round = 0; round < 500; ++round) {
        nest n(random, sizeof(F), random.below(2) == 0);
        n.fill_with_numbers<F>();
        const gathered_view view(dtype_of<F>::value, n.first, n.levels);
        const F* memory = view.in_place<F>();
        if (!memory || n.size == 0) continue;
        ++given;
        for (std::size_t i = 0; i < n.size; ++i) wrong += static_cast<double>(memory[i]) != n.number<F>(i);
    }
    CHECK(wrong == 0);
    CHECK(given > 20);
}

} // namespace

TEST_CASE("reading gathers, scales and widens as the levels say, whole or in pieces, at any alignment") {
    check_reading<float>(1);
    check_reading<double>(2);
    check_reading<float16>(3);
    check_reading<bfloat16>(4);
}

TEST_CASE("copying moves the bytes of every element type as the levels say, whole or in pieces") {
    counter_random random(5);
    std::size_t wrong = 0;
    for (const auto type : {dtype::boolean, dtype::f8_e4m3, dtype::i8, dtype::f16, dtype::bf16, dtype::u16, dtype::i32,
                            dtype::f32, dtype::f64, dtype::i64, dtype::c64}) {
        const std::size_t width = bits(type) / 8;
        for (int round = 0; round < 60; ++round) {
            const nest n(random, width, true);
            const gathered_view view(type, n.first, n.levels);
            std::vector<std::byte> whole(n.size * width);
            view.copy(0, n.size, whole.data());
            for (std::size_t i = 0; i < n.size; ++i) {
                const auto offset = n.element(i).first * static_cast<std::ptrdiff_t>(width);
                wrong += std::memcmp(&whole[i * width], n.first + offset, width) != 0;
            }
            std::vector<std::byte> pieces(whole.size());
            for (std::size_t at = 0; at < n.size;) {
                const std::size_t count = std::min(n.size - at, 1 + random.below(6));
                view.copy(at, count, pieces.data() + at * width);
                at += count;
            }
            wrong += pieces != whole;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("memory is given in place only where it is what reading would deliver") {
    check_in_place<float>(6);
    check_in_place<double>(7);
}

TEST_CASE("a plain tensor is given in place, whatever the number of its axes") {
    std::vector<float> w(24);
    const gathered_view view(any_tensor_view(tensor_view{w, {2, 3, 1, 4}}));
    CHECK(view.in_place<float>() == w.data());
    CHECK(view.in_place<double>() == nullptr);
    CHECK_FALSE(view.is_scaled());
    const float scalar = 3;
    CHECK(gathered_view(any_tensor_view(tensor_view{&scalar, {}})).in_place<float>() == &scalar);
}

TEST_CASE("what is reordered, scaled, strided or misaligned is not given in place") {
    alignas(8) std::array<float, 8> w{};
    const auto* bytes = reinterpret_cast<const std::byte*>(w.data());
    const std::vector<std::size_t> order{0, 1};
    const std::vector<double> ones{1, 1};
    const auto is_in_place = [](const std::byte* data, const std::vector<axis_level>& levels) {
        return gathered_view(dtype::f32, data, levels).in_place<float>() != nullptr;
    };
    CHECK(is_in_place(bytes, {{2, 3}, {3, 1}}));
    CHECK_FALSE(is_in_place(bytes, {{2, 3, order.data()}, {3, 1}}));
    CHECK_FALSE(is_in_place(bytes, {{2, 3, nullptr, ones.data()}, {3, 1}}));
    CHECK_FALSE(is_in_place(bytes, {{2, 4}, {3, 1}}));
    CHECK_FALSE(is_in_place(bytes, {{2, 1}, {3, 2}}));
    CHECK_FALSE(is_in_place(bytes, {{3, 0}}));
    CHECK_FALSE(is_in_place(bytes + 28, {{3, -1}}));
    CHECK_FALSE(is_in_place(bytes + 1, {{2, 3}, {3, 1}}));
}

TEST_CASE("packed elements are seen as the bytes that hold them") {
    const std::array bytes{std::byte{0x12}, std::byte{0x34}, std::byte{0x56}};
    for (const auto& v :
         {any_tensor_view(dtype::f4, bytes.data(), {2, 3}), any_tensor_view(dtype::f6_e2m3, bytes.data(), {4})}) {
        const gathered_view view(v);
        CHECK(view.type() == dtype::u8);
        REQUIRE(view.size() == 3);
        std::array<std::byte, 3> out{};
        view.copy(0, 3, out.data());
        CHECK(out == bytes);
    }
}

TEST_CASE("an empty tensor is read as nothing") {
    std::array<float, 1> out{42};
    for (const auto& s : {shape{0}, shape{3, 0}, shape{0, 3}, shape{2, 0, 2}}) {
        const float* const none = nullptr;
        const gathered_view view(any_tensor_view(tensor_view{none, s}));
        CHECK(view.size() == 0);
        view.read(0, 0, out.data());
        view.copy(0, 0, reinterpret_cast<std::byte*>(out.data()));
    }
    CHECK(out[0] == 42);
}
