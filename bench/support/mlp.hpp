#pragma once

// Multi-layer perceptrons with Gaussian weights, for the benches.
#include <plait/core/random.hpp>
#include <plait/model/model.hpp>
#include <plait/spec/permutation_spec.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

/// Widths 64, 512, 10 give fc1.weight [512, 64], fc1.bias, fc2.weight [10, 512], fc2.bias.
inline plait::model mlp(const std::vector<std::size_t>& widths, std::uint64_t seed) {
    plait::counter_random random(seed);
    plait::model m;
    const auto add = [&](const std::string& name, const plait::shape& shape, double deviation) {
        const auto view = m.add(name, plait::dtype::f32, shape).as<float>();
        for (std::size_t i = 0; i < view.size(); ++i) { // the sum of three uniform numbers is nearly Gaussian
            const double sum = random.uniform() + random.uniform() + random.uniform();
            view.data()[i] = static_cast<float>((2 * sum - 3) * deviation);
        }
    };
    for (std::size_t l = 1; l < widths.size(); ++l) {
        const std::string name = "fc" + std::to_string(l);
        add(name + ".weight", {widths[l], widths[l - 1]}, 1 / std::sqrt(static_cast<double>(widths[l - 1])));
        add(name + ".bias", {widths[l]}, 0.1);
    }
    return m;
}

inline plait::permutation_spec mlp_spec(std::size_t layers) {
    plait::permutation_spec spec;
    for (std::size_t l = 1; l <= layers; ++l) {
        const std::string out = l == layers ? "_" : "h" + std::to_string(l);
        const std::string axes = out + (l == 1 ? " _" : " h" + std::to_string(l - 1));
        const std::string name = "fc" + std::to_string(l);
        spec.tensor(name + ".weight", plait::axis_pattern::runtime(axes));
        spec.tensor(name + ".bias", plait::axis_pattern::runtime(out));
    }
    return spec;
}

} // namespace bench
