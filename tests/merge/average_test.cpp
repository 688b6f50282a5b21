#include <plait/core/random.hpp>
#include <plait/fuse/merge.hpp>
#include <plait/merge/average.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using namespace plait;

namespace {

template <class T>
model one_tensor(const std::vector<T>& numbers) {
    model m;
    const auto view = m.add("w", dtype_of<T>::value, {numbers.size()});
    std::memcpy(view.bytes(), numbers.data(), numbers.size() * sizeof(T));
    return m;
}

template <class T>
std::vector<T> numbers_of(const model& m) {
    const auto v = m.at("w").as<const T>();
    return {v.data(), v.data() + v.size()};
}

template <class T>
std::vector<T> random_numbers(std::size_t n, std::uint64_t seed) {
    counter_random random(seed);
    std::vector<T> result(n);
    for (T& x : result) x = static_cast<T>(8 * random.uniform() - 4);
    return result;
}

} // namespace

// Whether `result` is what a number within the error of float sums of the parts rounds to; that of doubles for others.
template <class T>
bool is_rounded_once(T result, const std::vector<double>& parts, double divisor) {
    double sum = 0, magnitude = 0;
    for (const double part : parts) sum += part, magnitude += std::fabs(part);
    const double error = sizeof(T) == 2 ? magnitude * 0x1p-22 : 0;
    const auto rounded = [&](double x) { return static_cast<double>(static_cast<T>(x / divisor)); };
    const auto found = static_cast<double>(result);
    return rounded(sum - error) <= found && found <= rounded(sum + error);
}

TEMPLATE_TEST_CASE("the mean is that of doubles, rounded once", "", float, double, float16, bfloat16) {
    constexpr std::size_t n = 40000; // more than two blocks
    const std::vector<double> weights{.2, .5, -.1};
    std::vector<model> models;
    std::vector<std::vector<TestType>> inputs;
    for (std::uint64_t k = 0; k < 3; ++k) {
        inputs.push_back(random_numbers<TestType>(n, k));
        models.push_back(one_tensor(inputs.back()));
    }
    const auto plain = numbers_of<TestType>(merge(models, average{}));
    const auto weighted = numbers_of<TestType>(merge(models, average{.weights = weights}));
    const auto sum = numbers_of<TestType>(merge(models, average{.weights = weights, .normalize = false}));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto x = [&](std::size_t k) { return static_cast<double>(inputs[k][i]); };
        wrong += !(plain[i] == static_cast<TestType>((x(0) + x(1) + x(2)) / 3));
        const std::vector<double> parts{.2 * x(0), .5 * x(1), -.1 * x(2)};
        wrong += !is_rounded_once(sum[i], parts, 1);
        wrong += !is_rounded_once(weighted[i], parts, .2 + .5 + -.1);
    }
    CHECK(wrong == 0);
}

TEST_CASE("sums of halves that are too large or too small for a float are those of doubles") {
    const std::vector<bfloat16> huge(40, bfloat16(3e38)), tiny(40, bfloat16(1e-5));
    const auto near = [](const model& m, double x) {
        const auto found = numbers_of<bfloat16>(m);
        return std::ranges::all_of(found, [&](bfloat16 y) { return y == bfloat16(x); });
    };
    CHECK(near(merge({one_tensor(huge), one_tensor(huge)}, average{}), 3e38));
    CHECK(near(merge({one_tensor(huge), one_tensor(huge)}, average{.weights = {.3, .7}}), 3e38));
    const double w = 1e39;
    CHECK(near(merge({one_tensor(tiny), one_tensor(tiny)}, average{.weights = {w, w}, .normalize = false}),
               2 * w * static_cast<double>(tiny[0])));
}

TEMPLATE_TEST_CASE("equal models come back unchanged, bit for bit", "", float, double, float16, bfloat16) {
    auto numbers = random_numbers<TestType>(1000, 1);
    numbers[0] = static_cast<TestType>(-0.0);
    numbers[1] = static_cast<TestType>(std::numeric_limits<double>::infinity());
    numbers[2] = static_cast<TestType>(1e-7);
    const model a = one_tensor(numbers);
    for (std::size_t copies : {1U, 2U, 3U, 7U, 49U}) {
        const std::vector<model> models(copies, a);
        std::vector<double> weights(copies, .1);
        weights[0] = .7;
        for (const average& method : {average{}, average{.weights = weights}}) {
            const auto merged = numbers_of<TestType>(merge(models, method));
            CHECK(std::memcmp(merged.data(), numbers.data(), numbers.size() * sizeof(TestType)) == 0);
        }
    }
}

TEST_CASE("a NaN or an infinity of one model is not hidden") {
    const auto merged = numbers_of<float>(
        merge({one_tensor<float>({NAN, INFINITY, INFINITY, 1}), one_tensor<float>({1, 1, -INFINITY, 3})}, average{}));
    CHECK(std::isnan(merged[0]));
    CHECK(merged[1] == INFINITY);
    CHECK(std::isnan(merged[2]));
    CHECK(merged[3] == 2);
}

TEST_CASE("a sum beyond float is rounded only at the end") {
    const float big = 3e38F;
    CHECK(numbers_of<float>(merge({one_tensor<float>({big}), one_tensor<float>({big})}, average{}))[0] == big);
    const auto halves =
        merge({one_tensor<float16>({float16(60000.F)}), one_tensor<float16>({float16(49984.F)})}, average{});
    CHECK(static_cast<float>(numbers_of<float16>(halves)[0]) == 54976); // 54992 is a tie; its even neighbour
}

TEST_CASE("types may be mixed; the first model's type is the result's") {
    const model a = one_tensor<float16>({float16(1.F)});
    const model b = one_tensor<double>({1.0009765625 + 1e-12}); // one step of f16 above 1, and a little
    CHECK(merge({a, b}, average{}).at("w").type() == dtype::f16);
    CHECK(numbers_of<double>(merge({b, a}, average{}))[0] == (1.0009765625 + 1e-12 + 1) / 2);
    // Just above the tie between 1 and the next f16: rounding to float on the way would hide it.
    CHECK(numbers_of<float16>(merge({a, b}, average{}))[0].bits == float16(1.F).bits + 1);
}

TEST_CASE("weights that do not fit are refused") {
    const model a = one_tensor<float>({1});
    for (const std::vector<double>& weights :
         {std::vector<double>{1}, {1, 2, 3}, {1, -1}, {NAN, 1}, {INFINITY, 1}, {0, 0}})
        CHECK_THROWS_AS(merge({a, a}, average{.weights = weights}), option_error);
    CHECK_NOTHROW(merge({a, a}, average{.weights = {1, -1}, .normalize = false}));
}

TEST_CASE("equal elements come back unchanged under weights that cancel") {
    const model a = one_tensor(random_numbers<float>(2000, 3));
    const auto merged = merge({a, a}, average{.weights = {1e9, -999999999}});
    CHECK(numbers_of<float>(merged) == numbers_of<float>(a));
    const model big = one_tensor<float>({INFINITY});
    CHECK(numbers_of<float>(merge({big, big}, average{.weights = {0, 1}}))[0] == INFINITY);
}
