#include <plait/core/matrix_view.hpp>
#include <plait/core/tensor.hpp>
#include <plait/core/tensor_view.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace plait;

TEST_CASE("every element type is found by its name, and its bits are those of the format") {
    for (unsigned i = 0; i <= static_cast<unsigned>(dtype::u64); ++i) {
        const auto d = static_cast<dtype>(i);
        CHECK(dtype_from_name(name(d)) == d);
    }
    for (const char* unknown : {"", "f32", "F3", "F322", "FLOAT"}) CHECK_FALSE(dtype_from_name(unknown));
    CHECK(bits(dtype::f4) == 4);
    CHECK(bits(dtype::f6_e2m3) == 6);
    CHECK(bits(dtype::f6_e3m2) == 6);
    CHECK(bits(dtype::c64) == 64);
    for (const auto d : {dtype::boolean, dtype::u8, dtype::i8, dtype::f8_e5m2, dtype::f8_e4m3, dtype::f8_e8m0,
                         dtype::f8_e4m3fnuz, dtype::f8_e5m2fnuz})
        CHECK(bits(d) == 8);
}

TEST_CASE("the element type of a C++ type has its size") {
    const auto same = []<class... T>(T...) { return ((bits(dtype_of<T>::value) == 8 * sizeof(T)) && ...); };
    CHECK(same(true, float16{}, bfloat16{}, 0.0F, 0.0, char{}, short{}, 0, 0L, 0LL, 0U, 0UL, std::int8_t{}));
    CHECK(dtype_of<std::int64_t>::value == dtype::i64);
    CHECK(dtype_of<unsigned char>::value == dtype::u8);
    CHECK(dtype_of<std::uint16_t>::value == dtype::u16);
    for (unsigned i = 0; i <= static_cast<unsigned>(dtype::u64); ++i) {
        const auto d = static_cast<dtype>(i);
        if (is_floating(d)) CHECK(visit_floating(d, []<class T>(T) { return dtype_of<T>::value; }) == d);
    }
}

TEST_CASE("a shape takes any mixture of integers and refuses negative ones") {
    const std::vector<float> v(6);
    const int rows = 2;
    const shape s{rows, 3U, v.size()};
    CHECK(to_string(s) == "[2, 3, 6]");
    CHECK(s.size() == 36);
    CHECK(shape{}.rank() == 0);
    CHECK(shape{}.size() == 1);
    CHECK(to_string(shape{}) == "[]");
    CHECK(shape{3, 0, 5}.size() == 0);
    CHECK(shape{2, 3} != shape{3, 2});
    CHECK(says(fault_of<shape_error>([] { shape{2, -3}; }), "an extent is -3, expected 0 or more"));
}

TEST_CASE("the number of elements is multiplied from the left and must fit on the way") {
    const std::uint64_t half = std::uint64_t{1} << 63;
    CHECK(says(fault_of<shape_error>([&] { return shape{half, half, 0}.size(); }), "9223372036854775808"));
    CHECK(shape{0, half, half}.size() == 0);
    CHECK(shape{half, 1}.size() == half);
    CHECK_THROWS_AS(shape(half, 2).size(), shape_error);
}

TEST_CASE("row-major strides are the products of the extents to the right") {
    CHECK(strides::row_major({2, 3, 4}) == strides{12, 4, 1});
    CHECK(strides::row_major({}) == strides{});
    CHECK(strides::row_major({7}) == strides{1});
    CHECK(strides::row_major({2, 0, 4}) == strides{4, 4, 1}); // as PyTorch: an empty axis counts as 1
}

TEST_CASE("a view reads the element that its strides point to") {
    std::vector<float> w{0, 1, 2, 3, 4, 5};
    const tensor_view rows{w, {2, 3}};
    const tensor_view columns{w.data(), {2, 3}, {1, 2}};
    const tensor_view backwards{w.data() + 5, {6}, {-1}};
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) {
            CHECK(rows(i, j) == static_cast<float>(3 * i + j));
            CHECK(columns(i, j) == static_cast<float>(i + 2 * j));
        }
    CHECK(backwards(0) == 5);
    CHECK(backwards(5) == 0);
    CHECK(rows.is_row_major());
    CHECK_FALSE(columns.is_row_major());
    CHECK_FALSE(backwards.is_row_major());
    rows(1, 2) = 50;
    CHECK(w[5] == 50);
    const float scalar = 7;
    CHECK(tensor_view{&scalar, {}}() == 7);
}

TEST_CASE("strides of axes with one element do not matter for the order") {
    float w[3]{};
    CHECK(tensor_view{w + 0, {1, 3}, {100, 1}}.is_row_major());
    CHECK(tensor_view{w + 0, {3, 1}, {1, 0}}.is_row_major());
    CHECK_FALSE(tensor_view{w + 0, {3}, {0}}.is_row_major());
}

TEST_CASE("a view deduces its element type from pointers, arrays, vectors and spans") {
    std::vector<double> v(4);
    const std::vector<double> c(4);
    std::array<float, 4> a{};
    const double* p = v.data();
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{v, {2, 2}}), tensor_view<double>>);
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{c, {2, 2}}), tensor_view<const double>>);
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{a, {2, 2}}), tensor_view<float>>);
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{std::span(v), {2, 2}}), tensor_view<double>>);
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{p, {2, 2}}), tensor_view<const double>>);
    STATIC_REQUIRE(std::convertible_to<tensor_view<double>, tensor_view<const double>>);
    STATIC_REQUIRE_FALSE(std::convertible_to<tensor_view<const double>, tensor_view<double>>);
    STATIC_REQUIRE_FALSE(std::constructible_from<tensor_view<double>, std::vector<double>, shape>); // would dangle
    STATIC_REQUIRE_FALSE(std::constructible_from<tensor_view<float>, std::vector<double>&, shape>);
    STATIC_REQUIRE_FALSE(std::constructible_from<mutable_any_tensor_view, tensor_view<const float>>);
    STATIC_REQUIRE(std::constructible_from<any_tensor_view, tensor_view<float>>);
}

TEST_CASE("a view refuses memory and strides that do not fit its shape") {
    std::vector<float> w(6);
    float* const none = nullptr;
    CHECK(says(fault_of<shape_error>([&] { tensor_view{w, {2, 4}}; }), "6 elements, expected 8 for shape [2, 4]"));
    CHECK_THROWS_AS((tensor_view{w, {5}}), shape_error);
    CHECK(says(fault_of<shape_error>([&] { tensor_view{w.data(), {2, 3}, {1}}; }), "has 1 strides, expected 2"));
    CHECK(says(fault_of<shape_error>([&] { tensor_view{none, {2, 3}}; }), "shape [2, 3] has no memory"));
    CHECK_THROWS_AS((tensor_view{none, {}}), shape_error);
    CHECK_NOTHROW(tensor_view{none, {2, 0}});
    CHECK_NOTHROW(tensor_view{std::vector<float>{}.data(), {0}});
}

TEST_CASE("an erased view gives its elements back as what they are, and as nothing else") {
    alignas(8) std::array<std::byte, 20> bytes{};
    const mutable_any_tensor_view v(dtype::f32, bytes.data(), {2, 2});
    v.as<float>()(1, 0) = 2.5F;
    CHECK(v.as<const float>()(1, 0) == 2.5F);
    CHECK(any_tensor_view(v).as<const float>().data() == v.as<float>().data());
    CHECK(v.size_bytes() == 16);
    CHECK(says(fault_of<dtype_error>([&] { v.as<double>(); }), "F32, not F64"));
    CHECK_THROWS_AS(v.as<std::int32_t>(), dtype_error);
    const any_tensor_view misaligned(dtype::f32, bytes.data() + 1, {2, 2});
    CHECK(says(fault_of<dtype_error>([&] { misaligned.as<const float>(); }), "not aligned for F32"));
    CHECK_NOTHROW(any_tensor_view(dtype::u8, bytes.data() + 1, {4}).as<const std::uint8_t>());
}

TEST_CASE("an erased view keeps the strides of a typed one") {
    std::vector<double> w(6);
    const any_tensor_view v = tensor_view{w.data(), {2, 3}, {1, 2}};
    CHECK(v.type() == dtype::f64);
    CHECK(v.strides() == strides{1, 2});
    CHECK_FALSE(v.is_row_major());
    CHECK(v.as<const double>().strides() == strides{1, 2});
}

TEST_CASE("elements of less than a byte are packed: no strides, whole bytes at the end") {
    std::array<std::byte, 3> bytes{};
    CHECK(any_tensor_view(dtype::f4, bytes.data(), {2, 3}).size_bytes() == 3);
    CHECK(any_tensor_view(dtype::f6_e2m3, bytes.data(), {4}).size_bytes() == 3);
    CHECK(any_tensor_view(dtype::f4, bytes.data(), {0}).size_bytes() == 0);
    CHECK(says(fault_of<shape_error>([&] { any_tensor_view(dtype::f4, bytes.data(), {5}); }),
               "shape [5] of F4 ends inside a byte"));
    CHECK_THROWS_AS(any_tensor_view(dtype::f6_e3m2, bytes.data(), {2}), shape_error);
    CHECK(says(fault_of<shape_error>([&] {
                   any_tensor_view(dtype::f4, bytes.data(), {2, 2}, {1, 2});
               }),
               "expected packed elements"));
}

TEST_CASE("an erased view refuses a size whose bits do not fit 64 bits") {
    std::byte b{};
    CHECK_THROWS_AS(any_tensor_view(dtype::f64, &b, {std::uint64_t{1} << 60}), shape_error);
    CHECK_THROWS_AS(tensor(dtype::f64, {std::uint64_t{1} << 60}), shape_error);
}

TEST_CASE("a tensor owns aligned memory; copies are independent, moves keep the memory") {
    tensor t(dtype::f32, {2, 3});
    CHECK(reinterpret_cast<std::uintptr_t>(t.view().bytes()) % aligned_buffer::alignment == 0);
    const tensor_view<float> w = t.view().as<float>();
    for (int i = 0; i < 6; ++i) w.data()[i] = static_cast<float>(i);
    tensor copy = t;
    CHECK(copy.shape() == t.shape());
    CHECK(copy.type() == t.type());
    CHECK(copy.view().bytes() != t.view().bytes());
    CHECK(std::memcmp(copy.view().bytes(), t.view().bytes(), 24) == 0);
    w(0, 0) = 9;
    CHECK(copy.view().as<float>()(0, 0) == 0);

    const std::byte* memory = t.view().bytes();
    const tensor moved = std::move(t);
    CHECK(moved.view().bytes() == memory);
    copy = moved;
    CHECK(copy.view().as<float>()(0, 0) == 9);
    copy = tensor(dtype::u8, {0});
    CHECK(copy.type() == dtype::u8);
    CHECK(copy.view().size_bytes() == 0);
    const tensor empty = copy;
    CHECK(empty.shape() == shape{0});
}

TEST_CASE("a matrix view walks rows that lie a leading dimension apart") {
    std::vector<float> w{0, 1, 2, 3, 4, 5, 6, 7};
    const matrix_view m{w.data(), 2, 3, 4};
    CHECK(m(1, 2) == 6);
    CHECK(m.row(1).size() == 3);
    CHECK(m.row(1)[0] == 4);
    CHECK(matrix_view{w.data(), 2, 4}(1, 0) == 4);
    CHECK(says(fault_of<shape_error>([&] { matrix_view{w.data(), 2, 3, 2}; }), "is 2, expected at least 3 columns"));
    CHECK_NOTHROW(matrix_view{w.data(), 1, 3, 0});
    CHECK_THROWS_AS((matrix_view{w.data(), -1, 3}), shape_error);
    float* const none = nullptr;
    CHECK_THROWS_AS((matrix_view{none, 1, 1}), shape_error);
    CHECK_NOTHROW(matrix_view{none, 0, 5});
}

TEST_CASE("names with control characters are told in full") {
    const error e("fault", {.tensor = std::string("a\0b\n", 4)});
    CHECK(std::string(e.what()) == R"(tensor "a\x00b\x0a": fault)");
}

TEST_CASE("the size of an array is checked, that of a pointer is the user's word") {
    float w[4] = {};
    CHECK_THROWS_AS((tensor_view{w, {4, 3}}), shape_error);
    CHECK((tensor_view{w, {2, 2}}).size() == 4);
    CHECK((tensor_view{+w, {2, 1}}).size() == 2);
}
