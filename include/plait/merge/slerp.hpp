#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/gram_combination.hpp>

#include <cmath>
#include <string_view>
#include <vector>

namespace plait {
namespace detail {

/// Coefficients on the arc from x_0 to x_1. Where there is none (parallel, opposite, or zero vectors), on the line.
inline std::vector<double> on_arc(const gram& g, double t, double largest_cosine, bool zero_is_orthogonal) {
    const double cosine = g.cosine(0, 1);
    const bool has_zero = g.norm(0) == 0 || g.norm(1) == 0;
    if (!(std::fabs(cosine) <= largest_cosine) || (has_zero && !zero_is_orthogonal)) return {1 - t, t};
    const double angle = std::acos(cosine);
    return {std::sin((1 - t) * angle) / std::sin(angle), std::sin(t * angle) / std::sin(angle)};
}

} // namespace detail

/// Spherical interpolation from the first model (t = 0) to the second (t = 1), each tensor as one vector. Vectors that
/// are nearly parallel or opposite, or zero, are interpolated linearly.   Source: Shoemake 1985.
struct slerp {
    double t = 0.5;

    static constexpr std::string_view name = "slerp";
    static constexpr bool has_mergekit_bits = true;
    detail::gram_combination start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 2);
        detail::check_finite("t of slerp", t);
        return {context, [t = t, as_mergekit = context.as_mergekit](const detail::gram& g) {
                    return detail::on_arc(g, t, 0.9995, as_mergekit);
                }};
    }
};

} // namespace plait
