#pragma once

#include <plait/align/balance.hpp>
#include <plait/align/permute.hpp>
#include <plait/core/random.hpp>
#include <plait/model/model_view.hpp>
#include <plait/permutation/random.hpp>
#include <plait/spec/bind.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// Runs a network: the outputs for inputs of the user's choice, as a range of numbers.
template <class F>
concept forward_pass = requires(const F& forward, const model_view& m) {
    { forward(m) } -> std::ranges::input_range;
    requires std::convertible_to < std::ranges::range_value_t<decltype(forward(m))>,
    double > ;
};

struct self_check_options {
    int trials = 3;
    std::uint64_t seed = 0;
    double tolerance = 1e-4; ///< of the largest absolute output; float networks stay far below it
};

struct self_check_result {
    struct group_change {
        std::string group;
        double change; ///< largest change of an output when this group alone is mapped
    };
    std::vector<group_change> groups = {};
    double largest_change = 0; ///< over all trials
    double allowed_change = 0;
    bool passed = false;

    explicit operator bool() const { return passed; }
};

namespace detail {

// A random element of what the spec says leaves the function unchanged. Scales are powers of two: they round nothing.
inline unit_map random_map(const bound_spec& spec, const unit_group& group, const model_view& m,
                           counter_random& random) {
    permutation p = random_permutation(group.size, random);
    if (p.moved() == 0 && p.size() > 1) { // small groups would often stay as they are
        std::vector<std::size_t> order(p.begin(), p.end());
        std::rotate(order.begin(), order.begin() + 1, order.end());
        p = permutation(std::move(order));
    }
    if (group.activation == activation::opaque || !can_scale(spec, group, m)) return unit_map(std::move(p));
    std::vector<double> scales(group.size);
    for (double& s : scales) {
        const double sign = random.below(2) ? 1 : -1;
        const double size = std::ldexp(1.0, static_cast<int>(random.below(3)) - 1);
        switch (group.activation) {
        case activation::relu:
            s = size;
            break;
        case activation::tanh:
            s = sign;
            break;
        default:
            s = sign * size;
            break;
        }
    }
    return {std::move(p), std::move(scales)};
}

} // namespace detail

/// Applies random elements of the whole group of a spec to a model and compares the outputs: the first thing to run on
/// a new architecture.
///
/// A wrong spec (a swapped axis, a forgotten boundary, a permuted output) fails loudly: its outputs change by as much
/// as they are large. Each trial maps every group alone, which tells the wrong ones, and then all at once. Throws what
/// bind() throws, option_error on options out of range, value_error when the model as it is has no outputs or outputs
/// that are not finite. Complexity: trials * (groups + 1) forward passes.
///     auto result = self_check(spec, model, [&](const model_view& m) { return run_network(m, inputs); });
template <forward_pass Forward>
self_check_result self_check(const permutation_spec& spec, const model_view& m, const Forward& forward,
                             const self_check_options& options = {}) {
    if (options.trials < 1) throw option_error("trials is " + std::to_string(options.trials) + ", expected 1 or more");
    if (!(options.tolerance >= 0))
        throw option_error("tolerance is " + std::to_string(options.tolerance) + ", expected 0 or more");
    const auto bound = std::make_shared<const bound_spec>(bind(spec, m));
    const auto outputs_of = [&](const model_view& of) {
        auto&& range = forward(of);
        std::vector<double> outputs;
        for (auto&& x : range) outputs.push_back(static_cast<double>(x));
        return outputs;
    };
    const auto note = [](double& largest, double x) { // a NaN stays
        if (x > largest || std::isnan(x)) largest = x;
    };
    const std::vector<double> expected = outputs_of(m);
    if (expected.empty()) throw value_error("the forward pass returned no outputs, expected one or more");
    for (double x : expected)
        if (!std::isfinite(x))
            throw value_error("the forward pass returned " + std::to_string(x)
                              + " for the model as it is, expected finite outputs");
    const auto change_under = [&](std::vector<unit_map> maps) {
        const std::vector<double> found = outputs_of(permute(m, model_map(bound, std::move(maps))));
        double largest = found.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
            const double change = std::fabs(found[i] - expected[i]);
            note(largest, change);
        }
        return largest;
    };

    self_check_result result;
    double largest_output = 0;
    for (double x : expected) largest_output = std::max(largest_output, std::fabs(x));
    if (largest_output == 0)
        throw value_error(
            "all outputs of the model as it is are 0, so a change could not be seen; expected other inputs or "
            "weights");
    result.allowed_change = options.tolerance * largest_output;
    std::vector<unit_map> unchanged;
    for (const unit_group& g : bound->groups()) {
        unchanged.emplace_back(permutation::identity(g.size));
        result.groups.push_back({g.name, 0});
    }
    counter_random random(options.seed);
    for (int trial = 0; trial < options.trials; ++trial) {
        std::vector<unit_map> all;
        for (std::size_t g = 0; g < unchanged.size(); ++g) {
            all.push_back(detail::random_map(*bound, bound->groups()[g], m, random));
            std::vector<unit_map> alone = unchanged;
            alone[g] = all.back();
            note(result.groups[g].change, change_under(std::move(alone)));
            note(result.largest_change, result.groups[g].change);
        }
        note(result.largest_change, change_under(std::move(all)));
    }
    result.passed = result.largest_change <= result.allowed_change;
    return result;
}

} // namespace plait
