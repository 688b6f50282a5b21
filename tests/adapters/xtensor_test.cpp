#include <plait/adapters/xtensor.hpp>
#include <plait/model/model.hpp>

#include "support/catch.hpp"

#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/views/xstrided_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>
#endif

#include <concepts>
#include <cstddef>
#include <vector>

using namespace plait;

namespace {

// Every element of an xtensor expression of rank 2 lies where the view says.
template <class C>
void check_same_elements(C& c) {
    const tensor_view v = c;
    REQUIRE(v.rank() == 2);
    for (std::size_t axis = 0; axis < 2; ++axis) REQUIRE(v.shape()[axis] == c.shape()[axis]);
    for (std::size_t i = 0; i < v.shape()[0]; ++i)
        for (std::size_t j = 0; j < v.shape()[1]; ++j) CHECK(&v(i, j) == &c(i, j));
}

} // namespace

TEST_CASE("containers of every layout are seen where they lie") {
    xt::xtensor<float, 2> rows{{0, 1, 2}, {3, 4, 5}};
    xt::xarray<double> array{{0, 1, 2}, {3, 4, 5}};
    xt::xtensor<float, 2, xt::layout_type::column_major> columns{{0, 1, 2}, {3, 4, 5}};
    const xt::xarray<float, xt::layout_type::column_major> fixed{{0, 1, 2}, {3, 4, 5}};
    check_same_elements(rows);
    check_same_elements(array);
    check_same_elements(columns);
    check_same_elements(fixed);
    CHECK(tensor_view{rows}.is_row_major());
    CHECK_FALSE(tensor_view{columns}.is_row_major());
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{rows}), tensor_view<float>>);
    STATIC_REQUIRE(std::same_as<decltype(tensor_view{fixed}), tensor_view<const float>>);
}

TEST_CASE("views and adapted memory are seen where they lie") {
    xt::xtensor<float, 2> w{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    auto inner = xt::view(w, xt::range(1, 3), xt::range(0, 4, 2));
    check_same_elements(inner);
    auto strided = xt::strided_view(w, {xt::range(0, 3, 2), xt::range(1, 4)});
    check_same_elements(strided);
    auto turned = xt::transpose(w);
    check_same_elements(turned);
    std::vector<float> memory(6);
    auto adapted = xt::adapt(memory, std::vector<std::size_t>{2, 3});
    check_same_elements(adapted);
    CHECK(tensor_view{adapted}.data() == memory.data());
    const auto& read_only = inner;
    CHECK(tensor_view{read_only}.data() == &w(1, 0));
}

TEST_CASE("axes of one element, scalars and empty containers are seen") {
    xt::xarray<float> row = xt::zeros<float>({1, 3});
    xt::xarray<float> column = xt::zeros<float>({3, 1});
    check_same_elements(row);
    check_same_elements(column);
    CHECK(tensor_view{row}.is_row_major());
    xt::xarray<float> scalar = 3.0F;
    CHECK(tensor_view{scalar}.rank() == 0);
    CHECK(tensor_view{scalar}() == 3);
    xt::xarray<float> empty = xt::zeros<float>({0, 3});
    CHECK(tensor_view{empty}.size() == 0);
}

TEST_CASE("containers pass straight into the braces of a model, and are written through it") {
    xt::xtensor<float, 2> w = xt::zeros<float>({2, 3});
    xt::xarray<float> b = xt::zeros<float>({2});
    const xt::xtensor<double, 1> c{1, 2, 3};
    const model_view m = {{"w", w}, {"b", b}, {"c", c}};
    CHECK(m.at("w").as<const float>().data() == w.data());
    CHECK(m.at("b").shape() == shape{2});
    CHECK(m.at("c").type() == dtype::f64);

    auto part = xt::view(w, xt::all(), 1);
    const mutable_model_view live = {{"w", w}, {"part", part}};
    live.tensors()[0].view.as<float>()(1, 2) = 42;
    live.tensors()[1].view.as<float>()(0) = 7;
    CHECK(w(1, 2) == 42);
    CHECK(w(0, 1) == 7);

    STATIC_REQUIRE(std::constructible_from<any_tensor_view, const xt::xtensor<float, 2>&>);
    STATIC_REQUIRE(std::constructible_from<mutable_any_tensor_view, xt::xtensor<float, 2>&>);
    STATIC_REQUIRE_FALSE(std::constructible_from<mutable_any_tensor_view, const xt::xtensor<float, 2>&>);
    STATIC_REQUIRE_FALSE(std::constructible_from<tensor_view<float>, const xt::xtensor<float, 2>&>);
    STATIC_REQUIRE_FALSE(std::constructible_from<tensor_view<float>, xt::xtensor<double, 2>&>);
    STATIC_REQUIRE_FALSE(std::constructible_from<any_tensor_view, xt::xtensor<float, 2>>); // would dangle
}

TEST_CASE("as_xtensor reads and writes the memory of a view, whatever its strides") {
    std::vector<float> w{0, 1, 2, 3, 4, 5};
    auto rows = as_xtensor(tensor_view{w, {2, 3}});
    auto columns = as_xtensor(tensor_view{w.data(), {2, 3}, {1, 2}});
    auto backwards = as_xtensor(tensor_view{w.data() + 5, {6}, {-1}});
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            CHECK(&rows(i, j) == &w[3 * i + j]);
            CHECK(&columns(i, j) == &w[i + 2 * j]);
        }
    const xt::xarray<float> copy = backwards;
    for (std::size_t i = 0; i < 6; ++i) CHECK(copy(i) == static_cast<float>(5 - i));
    const xt::xarray<float> sum = rows + columns;
    CHECK(sum(1, 2) == w[5] + w[5]);
    CHECK(sum(0, 1) == w[1] + w[2]);
    columns = xt::ones<float>({2, 3}) * 9;
    CHECK(w == std::vector<float>(6, 9));
}

TEST_CASE("as_xtensor broadcasts axes of one element") {
    std::vector<float> w{1, 2, 3};
    const auto row = as_xtensor(tensor_view{w, {1, 3}});
    const xt::xarray<float> doubled = xt::ones<float>({2, 3}) * row;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) CHECK(doubled(i, j) == w[j]);
}

TEST_CASE("there and back again is the same memory") {
    xt::xtensor<float, 2, xt::layout_type::column_major> w{{0, 1, 2}, {3, 4, 5}};
    auto back = as_xtensor(tensor_view{w});
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) CHECK(&back(i, j) == &w(i, j));
    check_same_elements(back);
    model m;
    m.add("w", dtype::f32, {2, 2});
    as_xtensor(m.at("w").as<float>()) = xt::xarray<float>{{1, 2}, {3, 4}};
    CHECK(m.at("w").as<float>()(1, 0) == 3);
}
