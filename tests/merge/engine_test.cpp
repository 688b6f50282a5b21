#include "support/catch.hpp"
#include "support/networks.hpp"

#include <plait/fuse/merge.hpp>
#include <plait/merge/average.hpp>

#include <mutex>
#include <set>

using namespace plait;

namespace {

// Takes the largest value of the models: a method that is not a mean.
struct largest {
    static constexpr std::string_view name = "largest";
    struct run {
        template <class F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = static_cast<double>(b.values[0][i]);
                for (const auto& v : b.values) out[i] = std::max(out[i], static_cast<double>(v[i]));
            }
        }
    };
    run start(const tensor_context&) const { return {}; }
};

// Writes the position of each element, to see that blocks arrive where they belong.
struct position {
    static constexpr std::string_view name = "position";
    struct run {
        template <class F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(b.first + i);
        }
    };
    run start(const tensor_context&) const { return {}; }
};

template <class T>
model integers(std::vector<T> numbers) {
    model m;
    std::memcpy(m.add("count", dtype_of<T>::value, {numbers.size()}).bytes(), numbers.data(), numbers.size() * sizeof(T));
    networks::assign(m.add("w", dtype::f32, {2}), {1, 2});
    return m;
}

} // namespace

static_assert(merge_method<largest> && merge_method<position> && merge_method<average>);

TEST_CASE("a method of one's own needs a name and two functions") {
    const auto net = networks::mlp({5, 30, 3});
    const model a = networks::random_model(net, 1);
    const model b = networks::random_model(net, 2);
    const model c = merge({a, b}, largest{});
    for (const auto& t : c.tensors()) {
        const auto x = networks::values(a.at(t.name));
        const auto y = networks::values(b.at(t.name));
        const auto z = networks::values(t.view);
        for (std::size_t i = 0; i < z.size(); ++i) REQUIRE(z[i] == std::max(x[i], y[i]));
    }
}

TEST_CASE("every block arrives at its place, in any layout of the output") {
    constexpr std::size_t rows = 700;
    constexpr std::size_t cols = 1900; // more than one task
    std::vector<float> plain(rows * cols);
    std::vector<float> by_column(rows * cols);
    const model_view source = {{"w", tensor_view{plain, {rows, cols}}}};
    detail::memory_sink sink({{"w", tensor_view{by_column.data(), {rows, cols}, {1, rows}}}});
    sink.begin(source.tensors());
    for (int threads : {1, 2}) {
        const model merged = merge({source}, position{}, {.threads = threads});
        const auto v = merged.at("w").as<const float>();
        detail::merge_to(sink, std::span(&source, 1), nullptr, alignment(1), detail::any_method(position{}), {.threads = threads});
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t k = 0; k < cols; ++k)
                wrong += v(i, k) != static_cast<float>(i * cols + k) || by_column[k * rows + i] != v(i, k);
        CHECK(wrong == 0);
    }
}

TEST_CASE("inputs in any layout merge alike") {
    const auto net = networks::mlp({5, 30, 3});
    const model a = networks::random_model(net, 1);
    const model b = networks::random_model(net, 2);
    const auto w = networks::values(a.at("fc1.weight"));
    std::vector<float> by_column(30 * 5);
    for (std::size_t i = 0; i < 30; ++i)
        for (std::size_t k = 0; k < 5; ++k) by_column[k * 30 + i] = static_cast<float>(w[i * 5 + k]);
    auto tensors = model_view(a).tensors();
    tensors[0].view = tensor_view{by_column.data(), {30, 5}, {1, 30}};
    CHECK(networks::same_bits(merge({model_view(tensors), b}, average{}), merge({a, b}, average{})));
}

TEST_CASE("equal integers are copied, unequal ones are refused by name or taken from the first") {
    const model a = integers<std::int64_t>({1, 2, 3});
    const model b = integers<std::int64_t>({1, 2, 4});
    const model merged = merge({a, a}, average{});
    CHECK(merged.at("count").as<const std::int64_t>()(2) == 3);
    CHECK_THROWS_WITH(merge({a, b}, average{}), Catch::Contains("count") && Catch::Contains("take_first"));
    CHECK_THROWS_AS(merge({a, b}, average{}), dtype_error);
    CHECK(merge({a, b}, average{.integers = integer_policy::take_first}).at("count").as<const std::int64_t>()(2) == 3);
    CHECK_THROWS_AS(merge({a, integers<std::int32_t>({1, 2, 3})}, average{}), dtype_error);
    CHECK_THROWS_AS(merge({a, b}, largest{}), dtype_error);
}

TEST_CASE("types without arithmetic are carried through, packed ones too") {
    for (const dtype type : {dtype::boolean, dtype::f4, dtype::f6_e2m3, dtype::u8, dtype::f8_e8m0, dtype::i16, dtype::u32,
                             dtype::c64, dtype::u64}) {
        model a;
        const auto view = a.add("x", type, {8, 3});
        for (std::size_t i = 0; i < view.size_bytes(); ++i) view.bytes()[i] = static_cast<std::byte>(37 * i);
        CHECK(networks::same_bits(merge({a, a, a}, average{}), a));
        model b = a;
        b.at("x").bytes()[view.size_bytes() - 1] ^= std::byte{1};
        CHECK_THROWS_AS(merge({a, b}, average{}), dtype_error);
    }
}

TEST_CASE("models that do not fit are refused with every difference") {
    const model a = networks::random_model(networks::mlp({5, 30, 3}), 1);
    model b = networks::random_model(networks::mlp({5, 31, 3}), 1);
    b.add("extra", dtype::f32, {1});
    try {
        merge({a, b}, average{});
        FAIL("nothing was thrown");
    } catch (const shape_error& e) {
        CHECK_THAT(e.what(), Catch::Contains("fc1.weight") && Catch::Contains("fc1.bias") &&
                                 Catch::Contains("fc2.weight") && Catch::Contains("extra") && Catch::Contains("model 1") &&
                                 Catch::Contains("[31, 5]") && Catch::Contains("[30, 5]"));
    }
    CHECK_THROWS_AS(merge(std::vector<model>{}, average{}), option_error);
    CHECK_THROWS_AS(merge({a, a}, alignment(3), average{}), option_error);
    CHECK_THROWS_AS(merge({a, a}, average{}, {.threads = 0}), option_error);
}

TEST_CASE("an output that does not fit is refused before anything is written") {
    const model a = networks::random_model(networks::mlp({5, 30, 3}), 1);
    const std::vector<model_view> models{a, a};
    const auto refuses = [&](std::vector<mutable_named_tensor> tensors) {
        detail::memory_sink sink(std::move(tensors));
        CHECK_THROWS_AS(sink.begin(models[0].tensors()), error);
    };
    model out = a;
    networks::assign(out.at("fc1.bias"), std::vector<double>(30, 7));
    auto tensors = out.tensors();
    refuses({tensors.begin(), tensors.end() - 1}); // one is missing
    float x = 0;
    tensors.push_back({"extra", tensor_view{&x, {1}}});
    refuses(tensors);
    tensors.pop_back();
    std::vector<std::int32_t> numbers(150);
    tensors[0].view = tensor_view{numbers, {30, 5}};
    refuses(tensors);
    std::vector<float> narrow(5);
    tensors[0].view = tensor_view{narrow.data(), {30, 5}, {0, 1}};
    refuses(tensors);
    CHECK(networks::values(out.at("fc1.bias")) == std::vector<double>(30, 7));
}

TEST_CASE("empty tensors, scalars and models without tensors pass") {
    model a;
    a.add("empty", dtype::f32, {0, 5});
    networks::assign(a.add("scalar", dtype::bf16, {}), {3});
    a.add("no_integers", dtype::i64, {0});
    CHECK(networks::same_bits(merge({a, a}, average{}, {.threads = 3}), a));
    CHECK(merge({model{}, model{}}, average{}).size() == 0);
}

TEST_CASE("progress rises to one, and an exception of the observer ends the run") {
    const model a = networks::random_model(networks::mlp({5, 300, 200, 3}), 1);
    std::vector<double> seen;
    merge({a, a}, average{}, {.threads = 2, .on_progress = [&](double x) { seen.push_back(x); }});
    REQUIRE_FALSE(seen.empty());
    CHECK(std::ranges::is_sorted(seen));
    CHECK(seen.back() == 1);
    struct stop {};
    CHECK_THROWS_AS(merge({a, a}, average{}, {.threads = 2, .on_progress = [](double) { throw stop{}; }}), stop);
}

TEST_CASE("an alignment of other models is refused") {
    const auto wide = networks::mlp({5, 30, 3});
    const auto narrow = networks::mlp({5, 7, 3});
    const alignment order(2);
    const auto spec = networks::bound(wide, networks::random_model(wide, 1));
    const alignment of_wide(spec, {{model_map::identity(spec)}, {model_map::identity(spec)}});
    const model c = networks::random_model(narrow, 1);
    CHECK_NOTHROW(merge({c, c}, order, average{}));
    CHECK_THROWS_AS(merge({c, c}, of_wide, average{}), shape_error);
}
