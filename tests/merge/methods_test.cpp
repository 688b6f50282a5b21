// Check values of the robust rules, and of methods that look at all tensors first.
#include <plait/plait.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
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
