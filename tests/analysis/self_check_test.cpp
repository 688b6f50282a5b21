#include "support/catch.hpp"
#include "support/networks.hpp"

#include <plait/analysis/self_check.hpp>

using namespace plait;

TEST_CASE("the self check accepts what is a symmetry") {
    for (const auto& net : {networks::mlp({5, 30, 20, 3}), networks::residual(12, 20, 2, 3, 4),
                            networks::convolutional()}) {
        const self_check_result result = self_check(net.spec, networks::random_model(net, 1), net.forward);
        CHECK(result);
        CHECK(result.largest_change <= result.allowed_change);
        CHECK_FALSE(result.groups.empty());
    }
}

TEST_CASE("the self check rejects a swapped axis, and tells the groups") {
    const auto net = networks::mlp({5, 20, 20, 3});
    const model m = networks::random_model(net, 1);
    const auto swapped = permutation_spec{}
                             .tensor("fc1.weight", "h1 _").tensor("fc1.bias", "h1")
                             .tensor("fc2.weight", "h1 h2").tensor("fc2.bias", "h2") // fc2 is [out, in]: h2 h1
                             .tensor("fc3.weight", "_ h2").tensor("fc3.bias", "_");
    const auto result = self_check(swapped, m, net.forward);
    CHECK_FALSE(result);
    CHECK(result.largest_change > 100 * result.allowed_change);
    CHECK(result.groups[0].change > result.allowed_change);
}

TEST_CASE("the self check rejects permuted outputs, a wrong flatten order and a forgotten statistic") {
    const auto net = networks::convolutional();
    const model m = networks::random_model(net, 1);
    const auto spec_with = [&](const char* fc1, const char* fc2, const char* bias, const char* statistics) {
        permutation_spec spec;
        spec.tensor("conv.weight", "c _ _ _").tensor("conv.bias", "c").tensor("fc1.bias", "h");
        spec.tensor("bn.weight", "c").tensor("bn.bias", "c").tensor("bn.running_mean", "c").fixed("*none");
        spec.tensor("bn.running_var", axis_pattern::runtime(statistics));
        spec.tensor("fc1.weight", axis_pattern::runtime(fc1)).tensor("fc2.weight", axis_pattern::runtime(fc2));
        spec.tensor("fc2.bias", axis_pattern::runtime(bias));
        return self_check(spec, m, net.forward).passed;
    };
    CHECK(spec_with("h (c _)", "_ h", "_", "c"));
    CHECK_FALSE(spec_with("h (_ c)", "_ h", "_", "c"));
    CHECK_FALSE(spec_with("h (c _)", "_ h", "_", "_"));
    CHECK_FALSE(spec_with("h (c _)", "o h", "o", "c"));
}

TEST_CASE("the self check rejects units that are called relu but are not") {
    const auto net = networks::mlp({5, 20, 3});
    const model m = networks::random_model(net, 1);
    const auto with = [&](activation kind, auto nonlinearity) {
        const auto spec = permutation_spec{}
                              .tensor("fc1.weight", "h _").tensor("fc1.bias", "h")
                              .tensor("fc2.weight", "_ h").tensor("fc2.bias", "_").units("h", kind);
        return self_check(spec, m, [&](const model_view& v) {
            auto h = networks::affine(networks::values(v.at("fc1.weight")), networks::values(v.at("fc1.bias")),
                                      networks::some_input(5));
            for (double& x : h) x = nonlinearity(x);
            return networks::affine(networks::values(v.at("fc2.weight")), networks::values(v.at("fc2.bias")), h);
        }).passed;
    };
    const auto relu = [](double x) { return std::max(x, 0.0); };
    const auto tanh = [](double x) { return std::tanh(x); };
    const auto same = [](double x) { return x; };
    CHECK(with(activation::relu, relu));
    CHECK_FALSE(with(activation::relu, tanh));
    CHECK(with(activation::tanh, tanh));
    CHECK_FALSE(with(activation::tanh, relu));
    CHECK(with(activation::linear, same));
    CHECK_FALSE(with(activation::linear, relu));
    CHECK(with(activation::opaque, tanh));
}

TEST_CASE("the self check fails on NaN outputs and on outputs of another size") {
    const auto net = networks::mlp({5, 20, 3});
    const model m = networks::random_model(net, 1);
    CHECK_THROWS_AS(self_check(net.spec, m, [](const model_view&) { return std::vector<double>{1, NAN}; }), value_error);
    CHECK_THROWS_AS(self_check(net.spec, m, [](const model_view&) { return std::vector<double>{}; }), value_error);
    std::size_t calls = 0;
    CHECK_FALSE(self_check(net.spec, m, [&](const model_view&) { return std::vector<double>{++calls == 2 ? NAN : 1, 1}; }));
    calls = 0;
    CHECK_FALSE(self_check(net.spec, m, [&](const model_view&) { return std::vector<float>(++calls, 1.F); }));
    CHECK_THROWS_AS(self_check(net.spec, m, net.forward, {.trials = 0}), option_error);
    CHECK_THROWS_AS(self_check(net.spec, m, net.forward, {.tolerance = -1}), option_error);
}
