#pragma once

#include <plait/merge/check_options.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>

namespace plait {

/// One model, times a scale.
struct passthrough {
    double scale = 1;

    static constexpr std::string_view name = "passthrough";
    struct run {
        double scale;
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) out[e] = scale * static_cast<double>(b.values[0][e]);
        }
    };
    run start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 1);
        detail::check_finite("the scale of passthrough", scale);
        return {scale};
    }
};

} // namespace plait
