#pragma once

#include <plait/merge/check_options.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plait {

/// From the base towards the one model, the further the nearer they are: an element that differs by d moves by
/// min(t, |d|) with the sign of d.   Source: mergekit's nearswap.
struct nearswap {
    double t = 0.001;

    static constexpr std::string_view name = "nearswap";
    static constexpr bool needs_deltas = true;
    struct run {
        double t;
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) {
                const auto d = static_cast<double>(b.values[0][e]);
                out[e] = std::copysign(std::min(std::fabs(d), t), d);
            }
        }
    };
    run start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 1);
        if (!(t >= 0)) throw option_error("t of nearswap is " + std::to_string(t) + ", expected 0 or more");
        return {t};
    }
};

} // namespace plait
