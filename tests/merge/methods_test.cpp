// Check values of the robust rules, and of methods that look at all tensors first.
#include <plait/plait.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace plait;

model point(const std::vector<double>& x) {
    model m;
    const auto view = m.add("w", dtype::f64, shape(x.size()));
    std::memcpy(view.bytes(), x.data(), x.size() * sizeof(double));
    return m;
}
std::vector<model> points(const std::vector<std::vector<double>>& xs) {
    std::vector<model> result;
    for (const auto& x : xs) result.push_back(point(x));
    return result;
}
std::vector<double> numbers(const model& m) {
    const auto& view = m.at("w");
    std::vector<double> x(view.size());
    gathered_view(view).read(0, x.size(), x.data());
    return x;
}

const std::vector<std::vector<double>> corners{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {10, 10}};

} // namespace

TEST_CASE("krum takes the contribution nearest to its neighbours, the first of equal ones") {
    CHECK(numbers(fuse(points(corners), krum{.f = 1})) == std::vector<double>{0, 0});
    const auto mean = numbers(fuse(points(corners), multi_krum{.f = 1, .m = 3}));
    CHECK(mean[0] == Catch::Approx(1.0 / 3));
    CHECK(mean[1] == Catch::Approx(1.0 / 3));
}

TEST_CASE("krum and bulyan refuse fewer models than their bounds need") {
    CHECK_THROWS_AS(fuse(points(corners), krum{.f = 2}), option_error);
    CHECK_THROWS_AS(fuse(points(corners), bulyan{.f = 1}), option_error);
    CHECK_THROWS_AS(fuse(points(corners), multi_krum{.f = 1, .m = 5}), option_error);
}

TEST_CASE("bulyan chooses from those that are left each time") {
    CHECK(numbers(fuse(points({{1}, {2}, {3}, {4}, {5}, {6}, {100}}), bulyan{.f = 1}))[0] == Catch::Approx(3));
    CHECK(numbers(fuse(points({{7}, {3}, {2}, {-5}, {-1}, {-6}, {5}}), bulyan{.f = 1}))[0] == Catch::Approx(4.0 / 3));
}

TEST_CASE("medians ignore one far contribution") {
    auto far = corners;
    far[4] = {100, 100};
    const auto z = numbers(fuse(points(far), geometric_median{}));
    CHECK(z[0] == Catch::Approx(.78867513).epsilon(1e-7));
    CHECK(z[1] == Catch::Approx(.78867513).epsilon(1e-7));
    CHECK(numbers(fuse(points(far), coordinate_median{})) == std::vector<double>{1, 1});
}

TEST_CASE("a trimmed mean drops whole contributions at both ends") {
    CHECK(numbers(fuse(points({{1}, {2}, {3}, {4}, {5}}), trimmed_mean{.beta = .2}))[0] == Catch::Approx(3));
    CHECK(numbers(fuse(points({{1}, {2}, {3}, {40}}), trimmed_mean{.beta = .25}))[0] == Catch::Approx(2.5));
    CHECK_THROWS_AS(fuse(points({{1}, {2}}), trimmed_mean{.beta = .5}), option_error);
}

TEST_CASE("clipping shortens the longest task vectors and caps weights") {
    const model base = point({0});
    const auto clipped = fuse(points({{1}, {-2}, {300}}), task_vectors{base} | clipped_mean{});
    CHECK(numbers(clipped)[0] == Catch::Approx((1.0 - 2 + 2) / 3));
    const auto capped =
        fuse(points({{1}, {-1}, {.5}}), task_vectors{base} | clipped_mean{.weights = {1, 1, 1e6}, .multiple = 10});
    CHECK(numbers(capped)[0] == Catch::Approx(2 * .5 / 4));
}

TEST_CASE("robust rules refuse NaN and copies by name") {
    auto bad = corners;
    bad[2][1] = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(fuse(points(bad), krum{.f = 1}), Catch::Contains("model 2") && Catch::Contains("NaN"));
    CHECK_THROWS_WITH(fuse(points(bad), coordinate_median{}), Catch::Contains("model 2"));
    auto copies = corners;
    copies[3] = copies[1];
    CHECK_THROWS_WITH(fuse(points(copies), trimmed_mean{}), Catch::Contains("model 3") && Catch::Contains("model 1"));
    CHECK_THROWS_WITH(fuse(points(copies), geometric_median{}), Catch::Contains("model 3"));
}

TEST_CASE("the trim of ties is per tensor or over the whole model") {
    model base;
    model tuned;
    const auto add = [&](const std::string& name, std::vector<double> x) {
        const auto zero = base.add(name, dtype::f64, shape(x.size()));
        std::memset(zero.bytes(), 0, zero.size_bytes());
        std::memcpy(tuned.add(name, dtype::f64, shape(x.size())).bytes(), x.data(), x.size() * sizeof(double));
    };
    add("w", {1, -2, .5, 3});
    add("v", {10, 20, -30, 40});
    const std::vector<model> models{tuned};
    CHECK(numbers(fuse(models, task_vectors{base} | ties{.density = .5})) == std::vector<double>{0, -2, 0, 3});
    CHECK(numbers(fuse(models, task_vectors{base} | ties_over_model{.density = .5})) == std::vector<double>(4));
    CHECK(numbers(fuse(models, task_vectors{base} | ties_over_model{.density = .75}))
          == std::vector<double>{0, -2, 0, 3});
}

TEST_CASE("methods and settings may differ by name and by layer") {
    model a;
    model b;
    for (const std::string name : {"layers.0.w", "layers.1.w", "layers.2.w", "head"}) {
        const double x = 0;
        const double y = 1;
        std::memcpy(a.add(name, dtype::f64, shape(1)).bytes(), &x, sizeof x);
        std::memcpy(b.add(name, dtype::f64, shape(1)).bytes(), &y, sizeof y);
    }
    const auto at_depth = [](double depth) {
        const double t = gradient{{0, 1}}(depth);
        return average{.weights = {1 - t, t}};
    };
    const auto m = fuse({a, b}, by_name(on_layers("layers.{l}.*", 3, at_depth), on("*", average{.weights = {1, 3}})));
    const auto value = [&](const char* name) {
        double x = 0;
        std::memcpy(&x, m.at(name).bytes(), sizeof x);
        return x;
    };
    CHECK(value("layers.0.w") == 0);
    CHECK(value("layers.1.w") == .5);
    CHECK(value("layers.2.w") == 1);
    CHECK(value("head") == .75);
    CHECK_THROWS_WITH(fuse({a, b}, by_name(on("layers.*", average{}))), Catch::Contains("head"));
}

TEST_CASE("a greedy soup keeps what scores more") {
    const auto models = points({{1}, {3}, {5}, {-9}});
    const auto score = [](const model_view& m) {
        double x = 0;
        std::memcpy(&x, m.at("w").bytes(), sizeof x);
        return -std::fabs(x - 2.5);
    };
    const soup s = greedy_soup(models, score);
    CHECK(s.members == std::vector<std::size_t>{1});
    CHECK(s.score == -.5);
}

TEST_CASE("statistics weigh the models") {
    const auto models = points({{1, 2}, {5, 6}});
    const std::vector<model_view> fishers{point({1, 0}), point({3, 0})};
    CHECK(numbers(fuse(models, fisher_average{.fishers = fishers})) == std::vector<double>{4, 4});
    CHECK_THROWS_AS(fuse(models, fisher_average{.fishers = {point({1, 0})}}), option_error);
    CHECK_THROWS_AS(fuse(models, fisher_average{.fishers = {point({1, -1}), point({1, 1})}}), value_error);
}

TEST_CASE("regmean solves for the weights that serve all inputs") {
    const auto matrix = [](const std::string& name, std::size_t rows, std::vector<double> x) {
        model m;
        std::memcpy(m.add(name, dtype::f64, shape(rows, x.size() / rows)).bytes(), x.data(), x.size() * sizeof(double));
        return m;
    };
    const std::vector<model> models{matrix("l.weight", 3, {1, 2, 3, 4, 5, 6}),
                                    matrix("l.weight", 3, {2, 0, 1, 1, 0, 2})};
    const std::vector<model_view> grams{matrix("l", 2, {2, 1, 1, 3}), matrix("l", 2, {1, .5, .5, 4})};
    const model merged = fuse(models, regmean{.grams = grams, .off_diagonal = 1});
    std::vector<double> x(6);
    gathered_view(merged.at("l.weight")).read(0, 6, x.data());
    const std::vector<double> expected{1.6, .8, 2.7333333, 2.2, 3.8666667, 3.6};
    for (std::size_t i = 0; i < 6; ++i) CHECK(x[i] == Catch::Approx(expected[i]).epsilon(1e-6));
    const std::vector<model_view> singular{matrix("l", 2, {1, 1, 1, 1}), matrix("l", 2, {1, 1, 1, 1})};
    CHECK_THROWS_AS(fuse(models, regmean{.grams = singular, .off_diagonal = 1}), value_error);
}

TEST_CASE("singular values are made equal, directions of tasks orthogonal") {
    const auto square = [](std::size_t n, std::vector<double> x) {
        model m;
        std::memcpy(m.add("w", dtype::f64, shape(n, n)).bytes(), x.data(), x.size() * sizeof(double));
        return m;
    };
    const model zero3 = square(3, std::vector<double>(9));
    const std::vector<model> three{square(3, {1, 2, 0, 0, 1, 1, 2, 0, 1}), square(3, {0, 1, 1, 1, 0, 2, 1, 1, 0})};
    const std::vector<double> rotated{0, 3, 0, 0, 0, 3, 3, 0, 0};
    for (const double share : {1.0, .8}) {
        const auto x = numbers(fuse(three, task_vectors{zero3} | isotropic{.common_space = share}));
        for (std::size_t i = 0; i < 9; ++i) CHECK(x[i] == Catch::Approx(rotated[i]).margin(1e-9));
    }
    const model zero4 = square(4, std::vector<double>(16));
    const std::vector<model> four{square(4, {4, 1, 0, 0, 1, 3, 0, 1, 0, 0, 2, 0, 0, 1, 0, 1}),
                                  square(4, {1, 0, 1, 0, 0, 2, 0, 0, 1, 0, 5, 1, 0, 0, 1, 3})};
    const auto x = numbers(fuse(four, task_vectors{zero4} | tsv{}));
    CHECK(x[0] == Catch::Approx(4.0465899).epsilon(1e-5));
    CHECK(x[1] == Catch::Approx(.8692676).epsilon(1e-5));
    CHECK(x[10] == Catch::Approx(5.2257643).epsilon(1e-5));
    CHECK(x[15] == Catch::Approx(3.0324280).epsilon(1e-5));
}

TEST_CASE("emr gives every task its signs and its size back") {
    const auto tuned = points({{1, -2, .5, 3}, {-1.5, -1, .25, -4}, {.1, .2, -.3, .4}});
    const model base = point({0, 0, 0, 0});
    CHECK(numbers(fuse(tuned, task_vectors{base} | emr{})) == std::vector<double>{-1.5, -2, .5, -4});
    const auto first = numbers(fuse(tuned, task_vectors{base} | emr{.task = 0}));
    CHECK(first[0] == 0);
    CHECK(first[1] == Catch::Approx(-2 * 2.6));
    CHECK(numbers(fuse(tuned, task_vectors{base} | emr{.task = 2})) == std::vector<double>(4));
}

TEST_CASE("opposite directions have no mean between them: karcher keeps the first") {
    CHECK(numbers(fuse(points({{-.7}, {.1}}), karcher{}))[0] == Catch::Approx(-.4));
    CHECK(numbers(fuse(points({{.7}, {-.7}}), karcher{}))[0] == Catch::Approx(.7));
    CHECK(numbers(fuse(points({{-.9}, {.6}, {.5}}), karcher{}))[0] == Catch::Approx(2. / 3));
    CHECK(numbers(fuse(points({{2, 1}, {2, 1}}), karcher{.tolerance = 0}))[0] == Catch::Approx(2));
    CHECK_THROWS_AS(fuse(points({{1}, {2}}), karcher{.tolerance = -1}), option_error);
}

TEST_CASE("vectors may be rows or columns") {
    const auto square = [](std::vector<double> x) {
        model m;
        std::memcpy(m.add("w", dtype::f64, shape(2, 2)).bytes(), x.data(), 4 * sizeof(double));
        return m;
    };
    const model a = square({1, 0, 0, 3});
    const model b = square({0, 1, 3, 0});
    const double arc = std::sqrt(.5);
    const auto rows = numbers(fuse({a, b}, nuslerp{.scope = vector_scope::rows}));
    const std::vector<double> expected{arc, arc, 3 * arc, 3 * arc};
    for (std::size_t i = 0; i < 4; ++i) CHECK(rows[i] == Catch::Approx(expected[i]));
    const auto columns =
        numbers(fuse({square({1, 0, 0, 3}), square({0, 3, 1, 0})}, nuslerp{.scope = vector_scope::columns}));
    const std::vector<double> turned{arc, 3 * arc, arc, 3 * arc};
    for (std::size_t i = 0; i < 4; ++i) CHECK(columns[i] == Catch::Approx(turned[i]));
}

TEST_CASE("buffers stay as they are when a value is refused") {
    std::vector<model> models;
    std::vector<model_view> fishers;
    for (const double x : {1.0, 3.0}) {
        model m;
        model f;
        for (const std::string name : {"a", "b"}) {
            std::memcpy(m.add(name, dtype::f64, shape(1)).bytes(), &x, sizeof x);
            const double entry = name == "b" ? -1 : 1;
            std::memcpy(f.add(name, dtype::f64, shape(1)).bytes(), &entry, sizeof entry);
        }
        models.push_back(m);
        fishers.emplace_back(std::move(f));
    }
    double a[] = {7};
    double b[] = {7};
    mutable_model_view live{{"a", tensor_view{a, {1}}}, {"b", tensor_view{b, {1}}}};
    CHECK_THROWS_AS(fuse_into(live, models, fisher_average{.fishers = fishers}), value_error);
    CHECK(a[0] == 7);
    CHECK(b[0] == 7);
}

TEST_CASE("any method can be given a choice for counters") {
    std::vector<model> models = points({{1}, {3}});
    for (std::size_t k = 0; k < 2; ++k) {
        const std::int64_t n = 10 + static_cast<std::int64_t>(k);
        std::memcpy(models[k].add("num_batches_tracked", dtype::i64, shape(1)).bytes(), &n, sizeof n);
    }
    const model base = models[0];
    CHECK_THROWS_WITH(fuse(models, task_vectors{base} | ties{}),
                      Catch::Contains("with_integers(integer_policy::take_first, ties{...})"));
    const model m = fuse(models, task_vectors{base} | with_integers(integer_policy::take_first, ties{.density = 1}));
    CHECK(numbers(m)[0] == 3);
    CHECK_THROWS_AS(greedy_soup(models, [](const model_view&) -> double { throw 1; }), dtype_error);
}

TEST_CASE("a rule for no tensor is refused") {
    CHECK_THROWS_WITH(fuse(points({{1}, {2}}), by_name(on("v", average{}), on("*", average{}))),
                      Catch::Contains("\"v\""));
    CHECK_THROWS_AS(on_layers("*.{l}.w", 2, [](double) { return average{}; }), option_error);
}

TEST_CASE("a Gram matrix of no layer is refused, an input without data gets the mean") {
    const auto matrix = [](const std::string& name, std::vector<double> x) {
        model m;
        std::memcpy(m.add(name, dtype::f64, shape(x.size() / 2, 2)).bytes(), x.data(), x.size() * sizeof(double));
        return m;
    };
    const std::vector<model> models{matrix("l.weight", {1, 2}), matrix("l.weight", {3, 6})};
    const std::vector<model_view> stray{matrix("k", {1, 0, 0, 1}), matrix("k", {1, 0, 0, 1})};
    CHECK_THROWS_AS(fuse(models, regmean{.grams = stray}), option_error);
    const std::vector<model_view> dead{matrix("l", {1, 0, 0, 0}), matrix("l", {3, 0, 0, 0})};
    const model m = fuse(models, regmean{.grams = dead});
    double x[2];
    gathered_view(m.at("l.weight")).read(0, 2, x);
    CHECK(x[0] == Catch::Approx((1. + 9) / 4));
    CHECK(x[1] == Catch::Approx(4));
}

TEST_CASE("exactly the largest magnitudes are kept, the first of equal ones, in small and in large tensors") {
    for (const std::size_t n : std::vector<std::size_t>{1, 5, 4096, 16384, 16385, 100000}) {
        for (const int kinds : {2, 1000000}) { // of magnitudes
            counter_random draw(n);
            std::vector<double> x(n);
            for (double& v : x)
                v = (draw.below(2) ? 1 : -1) * (1.0 + static_cast<double>(draw.below(static_cast<std::size_t>(kinds))));
            std::vector<std::size_t> order(n);
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return std::fabs(x[i]); });
            std::vector<double> expected(n);
            for (std::size_t r = 0; r < std::max<std::size_t>(1, n / 3); ++r) expected[order[r]] = x[order[r]];
            const auto kept = numbers(fuse(
                points({x}), composition{top_k_by_magnitude{n < 3 ? .5 : 1. / 3 + 1e-9}, no_election{}, sum_of{}}));
            CHECK(kept == expected);
        }
    }
}

TEMPLATE_TEST_CASE("exactly the largest are kept in tensors that are large enough for a sample", "", float, double) {
    constexpr std::size_t n = 530'001;
    constexpr std::size_t kept = 106'000; // density .2
    counter_random draw(1);
    const std::vector<std::function<double(std::size_t)>> kinds{
        [&](std::size_t) { return draw.uniform() + draw.uniform() - 1; },
        [&](std::size_t) { return static_cast<double>(draw.below(9)) - 4; },            // many equals
        [&](std::size_t i) { return (draw.uniform() - .5) * (i / 4096 % 7 ? 1 : 50); }, // rows of other sizes
        [&](std::size_t i) { return i % 4096 < 64 ? 0. : draw.uniform(); },             // the sample is misled
        [&](std::size_t i) { return i % 3 ? std::nan("") : 1.; },
        [&](std::size_t i) { return i % 9 ? draw.uniform() : (i % 2 ? 1 : -1) * HUGE_VAL; },
        [&](std::size_t) { return draw.below(20) == 0 ? draw.uniform() : 0; }, // not so many are not 0
    };
    for (const auto& kind : kinds) {
        model m;
        auto* x = reinterpret_cast<TestType*>(m.add("w", dtype_of<TestType>::value, shape(n)).bytes());
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<TestType>(kind(i));
        const auto key = [&](std::size_t i) { // NaN above all
            return std::isnan(x[i]) ? std::numeric_limits<double>::max() : std::fabs(static_cast<double>(x[i]));
        };
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::nth_element(order.begin(), order.begin() + kept, order.end(), [&](std::size_t a, std::size_t b) {
            const bool nan_a = std::isnan(x[a]), nan_b = std::isnan(x[b]);
            if (nan_a != nan_b) return nan_a;
            return nan_a || key(a) == key(b) ? a < b : key(a) > key(b);
        });
        std::vector<TestType> expected(n, 0);
        for (std::size_t r = 0; r < kept; ++r) expected[order[r]] = x[order[r]];
        const model found =
            fuse(std::vector<model>{m}, composition{top_k_by_magnitude{.2}, no_election{}, sum_of{}}, {.threads = 2});
        std::size_t wrong = 0;
        const auto* y = reinterpret_cast<const TestType*>(found.at("w").bytes());
        for (std::size_t i = 0; i < n; ++i)
            wrong += !(y[i] == expected[i] || (y[i] != y[i] && std::isnan(expected[i])));
        CHECK(wrong == 0);
    }
}

TEST_CASE("weights that cancel divide halves no more than floats") {
    const auto found = [](auto type) {
        using T = decltype(type);
        const auto filled = [](double x) {
            model m;
            auto* to = m.add("w", dtype_of<T>::value, shape(64)).bytes();
            for (std::size_t i = 0; i < 64; ++i) detail::store_as<T>(x, to + i * sizeof(T));
            return m;
        };
        const std::vector<model> tuned{filled(1), filled(2), filled(-3)};
        const model base = filled(0);
        const auto policy = task_vectors{base} | ties{.density = .999, .weights = {.3, .6, -.9}};
        const auto linear =
            task_vectors{base} | task_arithmetic{.weights = {.3, .6, -.9}, .divide_by = divisor::weights};
        const auto first = [](const model& m) { return static_cast<double>(detail::load_as<T>(m.at("w").bytes())); };
        return std::pair(first(fuse(tuned, policy)), first(fuse(tuned, linear)));
    };
    const auto of_floats = found(float{});
    const auto of_halves = found(bfloat16{});
    CHECK(of_floats.first == Catch::Approx(4.2));
    CHECK(of_halves.first == Catch::Approx(4.2).epsilon(.01));
    CHECK(of_halves.second == Catch::Approx(of_floats.second).epsilon(.01));
}

TEMPLATE_TEST_CASE("ties of halves and of floats are those of their definition", "", bfloat16, float) {
    constexpr std::size_t n = 9001;
    counter_random draw(3);
    std::vector<model> tuned;
    model base;
    std::vector<std::vector<double>> deltas;
    const auto fill = [&](model& m) {
        auto* to = m.add("w", dtype_of<TestType>::value, shape(n)).bytes();
        for (std::size_t i = 0; i < n; ++i)
            detail::store_as<TestType>(std::round(draw.uniform() * 64 - 32) / 64, to + i * sizeof(TestType));
    };
    const auto at = [](const model& m, std::size_t i) {
        return static_cast<double>(detail::load_as<TestType>(m.at("w").bytes() + i * sizeof(TestType)));
    };
    fill(base);
    const std::vector<double> weights{.5, 1, 2};
    for (const double w : weights) {
        fill(tuned.emplace_back());
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto delta = [&](std::size_t i) { return at(tuned.back(), i) - at(base, i); };
        std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return std::fabs(delta(i)); });
        auto& kept = deltas.emplace_back(n);
        for (std::size_t r = 0; r < 2700; ++r) kept[order[r]] = w * delta(order[r]);
    }
    const model found = fuse(tuned, task_vectors{base} | ties{.density = .3, .weights = weights, .lambda = .5});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double votes = deltas[0][i] + deltas[1][i] + deltas[2][i];
        double sum = 0, share = 0;
        for (std::size_t k = 0; k < 3; ++k)
            if (votes >= 0 ? deltas[k][i] > 0 : deltas[k][i] < 0) sum += deltas[k][i], share += weights[k];
        const double expected = at(base, i) + .5 * (share > 0 ? sum / share : 0);
        wrong += !(at(found, i) == Catch::Approx(expected).epsilon(sizeof(TestType) == 2 ? .004 : 1e-6).margin(1e-6));
    }
    CHECK(wrong == 0);
}

TEST_CASE("models of 8-bit floats merge with others, and into others") {
    const auto filled = [](auto type, double x) {
        using T = decltype(type);
        model m;
        auto* to = m.add("w", dtype_of<T>::value, shape(100)).bytes();
        for (std::size_t i = 0; i < 100; ++i) detail::store_as<T>(x, to + i * sizeof(T));
        return m;
    };
    const std::vector<model> mixed{filled(float8_e4m3{}, 1.5), filled(float{}, 2.25), filled(float8_e5m2{}, 3)};
    const model mean = fuse(mixed, average{});
    CHECK(mean.at("w").type() == dtype::f8_e4m3);
    CHECK(numbers(mean) == std::vector<double>(100, 2.25));
    model wide = filled(double{}, 0);
    fuse_into(wide, mixed, task_vectors{mixed[0]} | ties{.density = 1});
    CHECK(numbers(wide) == std::vector<double>(100, 2.625));
}

TEST_CASE("compat::mergekit computes what that tool computes, where plait is sounder") {
    const auto of = [](auto type, const std::vector<double>& numbers) {
        using T = decltype(type);
        model m;
        auto* to = m.add("w", dtype_of<T>::value, shape(numbers.size())).bytes();
        for (std::size_t i = 0; i < numbers.size(); ++i) detail::store_as<T>(numbers[i], to + i * sizeof(T));
        return m;
    };
    const std::vector<model> halves{of(bfloat16{}, {1}), of(bfloat16{}, {3})};
    const average weighted{.weights = {.3, .7}};
    CHECK(numbers(fuse(halves, weighted)) == std::vector<double>{2.40625});                    // 2.4, rounded
    CHECK(numbers(fuse(halves, compat::mergekit(weighted))) == std::vector<double>{2.390625}); // rounded four times

    const model base = of(float{}, {0, 0, 0});
    const std::vector<model> tuned{of(float{}, {1, 2, 3})};
    const auto all = task_vectors{base} | breadcrumbs{.density = .7};
    CHECK(numbers(fuse(tuned, all)) == std::vector<double>{0, 2, 3});
    CHECK(numbers(fuse(tuned, task_vectors{base} | compat::mergekit(breadcrumbs{.density = .7}))) == numbers(base));

    const std::vector<model> ends{of(float{}, {2, 0, 0}), base};
    CHECK(numbers(fuse(ends, slerp{}))[0] == 1);
    CHECK(numbers(fuse(ends, compat::mergekit(slerp{})))[0] == Catch::Approx(std::sqrt(2)));
    CHECK(describe(compat::mergekit(slerp{})) == "compat::mergekit(" + describe(slerp{}) + ")");
}

namespace {

// The electors, but without saying that they only add up: what they compose goes the general way.
template <class Elector>
struct generally {
    static void sign(std::span<const std::span<double>> rows, std::span<double> out) { Elector::sign(rows, out); }
};

} // namespace

TEMPLATE_TEST_CASE("sums in one pass over memory are those of the general way, for odd values too", "", float8_e4m3,
                   float8_e5m2, bfloat16, float16, float, double) {
    const auto width = sizeof(TestType);
    constexpr std::size_t n = (1U << 19) + 77; // enough for a sample
    const auto random_model = [&](std::uint64_t seed) {
        model m;
        auto* to = m.add("w", dtype_of<TestType>::value, shape(n)).bytes();
        counter_random draw(seed);
        const std::vector<double> odd{0.0, -0.0, 1e-42, -6e-8, 3e38, std::numeric_limits<double>::infinity(), NAN};
        for (std::size_t i = 0; i < n; ++i) {
            const double x = draw.uniform() + draw.uniform() - 1;
            detail::store_as<TestType>(draw.below(5000) == 0 ? odd[draw.below(odd.size())] : x, to + i * width);
        }
        return m;
    };
    const std::vector<model> tuned{random_model(1), random_model(2), random_model(3)};
    const model base = random_model(4);
    const auto compare = [&](auto sparsify, auto elector, divisor divide_by, std::vector<double> weights) {
        const composition_options options{.weights = std::move(weights), .lambda = .75};
        const model found =
            fuse(tuned, task_vectors{base} | composition{sparsify, elector, sum_of{divide_by}, options});
        const generally<decltype(elector)> general;
        const model expected =
            fuse(tuned, task_vectors{base} | composition{sparsify, general, sum_of{divide_by}, options});
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = static_cast<double>(detail::load_as<TestType>(found.at("w").bytes() + i * width));
            const auto y = static_cast<double>(detail::load_as<TestType>(expected.at("w").bytes() + i * width));
            const double tolerance = width <= 2 ? 1e-2 * std::fabs(y) + 1e-7 : 0; // these may be added up in float
            wrong += !(x == y || std::fabs(x - y) <= tolerance || (std::isnan(x) && std::isnan(y)));
        }
        CHECK(wrong == 0);
    };
    compare(top_k_by_magnitude{.3}, elect_by_sum{}, divisor::weights, {1, 1, 1});
    compare(top_k_by_magnitude{.01}, elect_by_count{}, divisor::count, {.5, 2, 1});
    compare(top_k_by_magnitude{.9}, no_election{}, divisor::weights, {.5, -2, 1});
    compare(magnitude_band{.9, .01}, no_election{}, divisor::one, {1, 1, 1});
    compare(magnitude_band{.2, .1}, elect_by_sum{}, divisor::weights, {1, 3, -1});
}

namespace {

// A tensor of two tasks and a small one, in either order.
model large(std::uint64_t seed, bool turned) {
    model m;
    const auto put = [&](const std::string& name, std::size_t n, std::uint64_t key) {
        counter_random draw(key);
        auto* x = reinterpret_cast<float*>(m.add(name, dtype::f32, shape(n)).bytes());
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(draw.uniform() - .5);
    };
    if (turned) put("b", 5000, 2 * seed + 1);
    put("a", 1060000, 2 * seed);
    if (!turned) put("b", 5000, 2 * seed + 1);
    return m;
}

template <class Policy>
void check_same_bytes(const std::vector<model>& models, const std::vector<model>& turned, const Policy& policy,
                      const Policy& turned_policy) {
    const model one = fuse(models, policy);
    const auto same = [&](const model& other) {
        for (const auto& t : one.tensors())
            if (std::memcmp(t.view.bytes(), other.at(t.name).bytes(), t.view.size_bytes()) != 0) return false;
        return true;
    };
    CHECK(same(fuse(models, policy, {.threads = 2})));
    CHECK(same(fuse(turned, turned_policy, {.threads = 4})));
}

} // namespace

TEST_CASE("every method writes the same bytes whatever the threads and the order of tensors") {
    std::vector<model> models;
    std::vector<model> turned;
    for (std::uint64_t k = 1; k <= 3; ++k) {
        models.push_back(large(k, false));
        turned.push_back(large(k, true));
    }
    const model base = large(0, false);
    const model turned_base = large(0, true);
    const auto absolute = [&](const auto&... method) { (check_same_bytes(models, turned, method, method), ...); };
    const auto deltas = [&](const auto&... method) {
        (check_same_bytes(models, turned, task_vectors{base} | method, task_vectors{turned_base} | method), ...);
    };
    absolute(average{.weights = {1, 2, 3}}, multislerp{}, karcher{}, coordinate_median{}, trimmed_mean{}, krum{},
             multi_krum{.m = 2}, bulyan{}, geometric_median{});
    deltas(task_arithmetic{}, ties{}, ties_over_model{}, dare{}, dare_ties{}, della{}, breadcrumbs{}, model_stock{},
           sce{.select_topk = .5}, magmax{}, ram{}, ramplus{}, consensus{}, tall_mask{}, emr{.task = 1}, clipped_mean{},
           by_name(on("a", ties_over_model{}), on("*", dare{})));
}
