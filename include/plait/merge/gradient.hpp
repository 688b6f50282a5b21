#pragma once

#include <plait/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace plait {

/// A setting that changes with depth: straight lines between values at equal distances. For on_layers of by_name.
///     gradient{{0, .5, 1}}(0.25) == .25
struct gradient {
    std::vector<double> values;

    /// `depth` from 0, the first value, to 1, the last. Throws option_error outside, and on values that are none or
    /// not finite.
    double operator()(double depth) const {
        if (values.empty()) throw option_error("a gradient has no values, expected 1 or more");
        for (const double v : values)
            if (!std::isfinite(v))
                throw option_error("a value of a gradient is " + std::to_string(v) + ", expected a finite number");
        if (!(depth >= 0 && depth <= 1))
            throw option_error("the depth of a gradient is " + std::to_string(depth) + ", expected 0 to 1");
        const double at = depth * static_cast<double>(values.size() - 1);
        const auto below = std::min(static_cast<std::size_t>(at), values.size() - 1);
        const std::size_t above = std::min(below + 1, values.size() - 1);
        const double share = at - static_cast<double>(below);
        return (1 - share) * values[below] + share * values[above];
    }
};

} // namespace plait
