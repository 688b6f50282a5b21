#include <plait/model/model.hpp>
#include <plait/model/model_list.hpp>
#include <plait/model/same_tensors.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace plait;

namespace {

model counting(const std::vector<std::pair<std::string, shape>>& tensors) {
    model m;
    float next = 0;
    for (const auto& [name, s] : tensors) {
        const auto w = m.add(name, dtype::f32, s).as<float>();
        for (std::size_t i = 0; i < w.size(); ++i) w.data()[i] = next++;
    }
    return m;
}

/// A stranger's model: knows nothing of plait's types but the list it gives, and cannot be copied.
class layers {
public:
    explicit layers(float first) : weight_{first, 2, 3, 4}, bias_{5, 6} {}
    layers(const layers&) = delete;
    layers(layers&&) = default;
    std::array<named_tensor, 2> tensors() const {
        return {{{"weight", tensor_view{weight_, {2, 2}}}, {"bias", tensor_view{bias_, {2}}}}};
    }

private:
    std::vector<float> weight_;
    std::vector<float> bias_;
};

std::vector<std::string> names_of(const model_view& m) {
    std::vector<std::string> names;
    for (const auto& t : m.tensors()) names.push_back(t.name);
    return names;
}

} // namespace

TEST_CASE("a model lists its tensors in the order in which they were added") {
    model m = counting({{"z", {2}}, {"a", {3}}, {"m", {}}});
    CHECK(names_of(m) == std::vector<std::string>{"z", "a", "m"});
    CHECK(m.size() == 3);
    CHECK(m.at("a").as<float>()(2) == 4);
    CHECK(std::as_const(m).at("m").as<const float>()() == 5);
    CHECK(says(fault_of<spec_error>([&] { std::as_const(m).at("b"); }), "tensor \"b\": the model has no tensor"));
}

TEST_CASE("a model refuses a second tensor of one name, and is left as it was") {
    model m = counting({{"a", {2}}});
    CHECK(says(fault_of<spec_error>([&] { m.add("a", dtype::f32, {3}); }), "tensor \"a\": the model already has"));
    CHECK(m.size() == 1);
    CHECK(m.at("a").shape() == shape{2});
    CHECK_THROWS_AS(m.add("big", dtype::f64, {std::size_t{1} << 62}), shape_error);
    CHECK(m.size() == 1);
    CHECK_THROWS_AS(m.at("big"), spec_error);
    CHECK_NOTHROW(m.add("big", dtype::f64, {1}));
}

TEST_CASE("views of a model's tensors live on while more are added") {
    model m;
    const auto first = m.add("first", dtype::f32, {1}).as<float>();
    first(0) = 42;
    for (int i = 0; i < 100; ++i) m.add(std::to_string(i), dtype::f32, {16});
    CHECK(m.at("first").as<float>().data() == first.data());
    CHECK(first(0) == 42);
}

TEST_CASE("a copy of a model is independent of it, and a moved model keeps its memory") {
    model a = counting({{"w", {4}}});
    model b = a;
    b.at("w").as<float>()(0) = 100;
    CHECK(a.at("w").as<float>()(0) == 0);
    const std::byte* memory = a.at("w").bytes();
    const model c = std::move(a);
    CHECK(c.at("w").bytes() == memory);
}

TEST_CASE("a view borrows an lvalue and takes over an rvalue") {
    model m = counting({{"w", {4}}});
    const model_view borrowed = m;
    CHECK(borrowed.at("w").bytes() == m.at("w").bytes());
    m.at("w").as<float>()(1) = 7;
    CHECK(borrowed.at("w").as<const float>()(1) == 7);

    const model_view kept = counting({{"w", {4}}});
    const model_view copy = kept;
    CHECK(copy.at("w").bytes() == kept.at("w").bytes());
    CHECK(copy.at("w").as<const float>()(3) == 3);
}

TEST_CASE("a taken over model lives as long as any copy of its view") {
    std::vector<model_view> views;
    {
        const model_view v = layers(10);
        views.assign(3, v);
    }
    views.pop_back();
    views.erase(views.begin());
    CHECK(views[0].at("weight").as<const float>()(0, 0) == 10);
}

TEST_CASE("a stranger's type is a checkpoint when it lists names and views") {
    STATIC_REQUIRE(checkpoint<layers>);
    STATIC_REQUIRE_FALSE(writable_checkpoint<layers>);
    const layers own(1);
    const model_view v = own;
    CHECK(names_of(v) == std::vector<std::string>{"weight", "bias"});
    CHECK(v.at("weight").shape() == shape{2, 2});
}

TEST_CASE("a view finds each tensor by its name, whatever the order") {
    const model m = counting({{"b", {1}}, {"", {1}}, {"c.10", {1}}, {"c.2", {1}}, {"a", {1}}});
    const model_view v = m;
    for (const auto& t : v.tensors()) CHECK(v.find(t.name) == &t);
    for (const char* absent : {"c", "c.1", "d", "A"}) CHECK(v.find(absent) == nullptr);
    CHECK(says(fault_of<spec_error>([&] { v.at("c.1"); }), "tensor \"c.1\": the checkpoint has no tensor"));
    CHECK(model_view{}.find("a") == nullptr);
}

TEST_CASE("a view refuses two tensors of one name") {
    float w[2]{};
    const tensor_view t{w + 0, {2}};
    CHECK(says(fault_of<spec_error>([&] {
                   model_view{{"a", t}, {"b", t}, {"a", t}};
               }),
               "tensor \"a\": the checkpoint"));
    CHECK_THROWS_AS((mutable_model_view{{"a", t}, {"a", t}}), spec_error);
}

TEST_CASE("braces of one, two and more named tensors are views") {
    std::vector<float> w(6);
    const float b[3]{};
    const model_view one = {{"w", tensor_view{w, {2, 3}}}};
    const model_view two = {{"w", tensor_view{w, {2, 3}}}, {"b", tensor_view{b + 0, {3}}}};
    CHECK(one.tensors().size() == 1);
    CHECK(two.tensors().size() == 2);
    mutable_model_view live = {{"w", tensor_view{w, {2, 3}}}, {"b", tensor_view{w.data(), {3}}}};
    live.tensors()[0].view.as<float>()(1, 2) = 5;
    CHECK(w[5] == 5);
    const model_view reads = live;
    CHECK(reads.at("w").as<const float>()(1, 2) == 5);
}

TEST_CASE("copy_of makes any checkpoint dense and its own") {
    std::vector<float> w{0, 1, 2, 3, 4, 5};
    std::array<std::byte, 3> packed{std::byte{1}, std::byte{2}, std::byte{3}};
    const model_view source = {{"columns", tensor_view{w.data(), {2, 3}, {1, 2}}},
                               {"repeated", tensor_view{w.data() + 4, {3}, {0}}},
                               {"backwards", tensor_view{w.data() + 5, {6}, {-1}}},
                               {"scalar", tensor_view{w.data() + 3, {}}},
                               {"empty", tensor_view{w.data(), {0, 3}}},
                               {"packed", any_tensor_view(dtype::f6_e2m3, packed.data(), {4})}};
    const model m = model::copy_of(source);
    CHECK(names_of(m) == names_of(source));
    for (const auto& t : m.tensors()) {
        CHECK(t.view.is_row_major());
        CHECK(t.view.shape() == source.at(t.name).shape());
        CHECK(t.view.type() == source.at(t.name).type());
    }
    w.assign(6, -1);
    const auto columns = m.at("columns").as<const float>();
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) CHECK(columns(i, j) == static_cast<float>(i + 2 * j));
    for (int i = 0; i < 3; ++i) CHECK(m.at("repeated").as<const float>()(i) == 4);
    for (int i = 0; i < 6; ++i) CHECK(m.at("backwards").as<const float>()(i) == static_cast<float>(5 - i));
    CHECK(m.at("scalar").as<const float>()() == 3);
    CHECK(std::memcmp(m.at("packed").bytes(), packed.data(), 3) == 0);
}

TEST_CASE("models that differ are told apart in one message that names everything") {
    const model first = counting({{"a", {2, 3}}, {"b", {4}}, {"c", {5}}});
    const model other = counting({{"c", {5}}, {"extra", {1}}, {"a", {3, 2}}});
    const std::vector<model_view> models{first, first, other};
    const auto fault = fault_of<shape_error>([&] { detail::check_same_tensors(models); });
    CHECK(says(fault, "model 2, tensor \"a\": shape is [3, 2], expected [2, 3]"));
    CHECK(says(fault, "model 2, tensor \"b\": missing, expected shape [4]"));
    CHECK(says(fault, "model 2, tensor \"extra\": not expected"));
    CHECK_FALSE(says(fault, "\"c\""));
    CHECK_NOTHROW(detail::check_same_tensors(std::span(models).first(2)));
    CHECK_THROWS_AS(detail::check_same_tensors({}), option_error);
}

TEST_CASE("the order of the tensors does not tell models apart") {
    const model a = counting({{"x", {1}}, {"y", {2}}});
    const model b = counting({{"y", {2}}, {"x", {1}}});
    const std::vector<model_view> models{a, b};
    CHECK_NOTHROW(detail::check_same_tensors(models));
}

TEST_CASE("a range of models is borrowed, not copied") {
    std::vector<model> models;
    for (int i = 0; i < 3; ++i) models.push_back(counting({{"w", {2}}}));
    const auto views = detail::views_of(models);
    REQUIRE(views.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(views[i].at("w").bytes() == models[i].at("w").bytes());
}

TEST_CASE("a tensor that ends inside a byte is not added") {
    model m;
    CHECK_THROWS_AS(m.add("q", dtype::f4, {3}), shape_error);
    CHECK(m.tensors().empty());
    CHECK_NOTHROW(m.add("q", dtype::f4, {4}));
}
