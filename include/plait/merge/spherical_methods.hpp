#pragma once

#include <plait/merge/gram_combination.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plait {
namespace detail {

inline void check_model_count(std::string_view method, std::size_t found, std::size_t expected) {
    if (found != expected)
        throw option_error(std::string(method) + " is given " + std::to_string(found) + " models, expected "
                           + std::to_string(expected));
}

inline void check_finite(std::string_view option, double x) {
    if (!std::isfinite(x))
        throw option_error(std::string(option) + " is " + std::to_string(x) + ", expected a finite number");
}

/// Weights of the models, all 1 when there are none. Throws option_error.
inline std::vector<double> weights_or_ones(std::string_view method, const std::vector<double>& weights,
                                           std::size_t models) {
    if (weights.empty()) return std::vector<double>(models, 1);
    if (weights.size() != models)
        throw option_error(std::string(method) + " has " + std::to_string(weights.size()) + " weights for "
                           + std::to_string(models) + " models, expected one per model");
    for (const double w : weights) check_finite("a weight of " + std::string(method), w);
    return weights;
}

/// Coefficients on the arc from x_0 to x_1. Where there is none (parallel, opposite, or zero vectors), on the line.
inline std::vector<double> on_arc(const gram& g, double t, double largest_cosine) {
    const double cosine = g.cosine(0, 1);
    if (!(std::fabs(cosine) <= largest_cosine) || g.norm(0) == 0 || g.norm(1) == 0) return {1 - t, t};
    const double angle = std::acos(cosine);
    return {std::sin((1 - t) * angle) / std::sin(angle), std::sin(t * angle) / std::sin(angle)};
}

} // namespace detail

/// Spherical interpolation from the first model (t = 0) to the second (t = 1), each tensor as one vector. Vectors that
/// are nearly parallel or opposite, or zero, are interpolated linearly.   Source: Shoemake 1985.
struct slerp {
    double t = 0.5;

    static constexpr std::string_view name = "slerp";
    detail::gram_combination start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 2);
        detail::check_finite("t of slerp", t);
        return {2, [t = t](const detail::gram& g) { return detail::on_arc(g, t, 0.9995); }};
    }
};

/// slerp at t = w_1 / (w_0 + w_1); with task vectors, of these.   Source: mergekit's nuslerp.
struct nuslerp {
    std::vector<double> weights = {}; ///< empty: equal

    static constexpr std::string_view name = "nuslerp";
    detail::gram_combination start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 2);
        const auto w = detail::weights_or_ones(name, weights, 2);
        const double sum = w[0] + w[1];
        const double t = std::fabs(sum) < 1e-6 ? 0.5 : w[1] / sum;
        return {2, [t](const detail::gram& g) { return detail::on_arc(g, t, 1 - 1e-14); }};
    }
};

/// The weighted mean direction, found in the tangent plane at the normalised sum of directions, at the weighted mean
/// norm. With task vectors, of these. Throws value_error where the directions cancel.   Source: mergekit's multislerp.
struct multislerp {
    std::vector<double> weights = {}; ///< empty: equal
    bool normalize = true;            ///< weights that sum to 1

    static constexpr std::string_view name = "multislerp";
    detail::gram_combination start(const tensor_context& context) const {
        auto w = detail::weights_or_ones(name, weights, context.models);
        double sum = 0;
        for (const double x : w) sum += x;
        if (normalize && sum == 0)
            throw option_error("the weights of multislerp sum to 0, expected another number; or .normalize = false");
        if (normalize)
            for (double& x : w) x /= sum;
        return {w.size(), [w, tensor = std::string(context.name)](const detail::gram& g) { return at(g, w, tensor); }};
    }

private:
    static std::vector<double> at(const detail::gram& g, const std::vector<double>& w, const std::string& tensor) {
        const std::size_t n = w.size();
        if (n == 1) return {1};
        std::vector<double> mean(n); // coefficients, as everything below
        double norm = 0;
        for (std::size_t i = 0; i < n; ++i) {
            mean[i] = g.norm(i) > 0 ? w[i] / g.norm(i) : 0;
            norm += w[i] * g.norm(i);
        }
        const double length = g.norm(mean);
        if (!(length > 1e-12)) {
            if (n == 2 || norm == 0) return w;
            throw value_error("the weighted directions of the models cancel, expected a mean direction",
                              {.tensor = tensor});
        }
        for (double& m : mean) m /= length;
        std::vector<double> tangent(n);
        double along = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (g.norm(i) == 0) continue;
            tangent[i] += w[i] / g.norm(i);
            along += w[i] * g.product(mean, i) / g.norm(i);
        }
        for (std::size_t i = 0; i < n; ++i) tangent[i] -= along * mean[i];
        const double r = g.norm(tangent);
        std::vector<double> c(n);
        for (std::size_t i = 0; i < n; ++i)
            c[i] = norm * (mean[i] * std::cos(r) + (r > 0 ? tangent[i] * std::sin(r) / r : 0));
        return c;
    }
};

/// The Riemannian mean of the directions on the sphere, at the mean norm. With task vectors, of these. Where the
/// directions cancel it begins, and may stay, at that of the first.   Source: Karcher 1977.
struct karcher {
    std::size_t max_iterations = 10;
    double tolerance = 1e-5;

    static constexpr std::string_view name = "karcher";
    detail::gram_combination start(const tensor_context& context) const {
        detail::check_finite("the tolerance of karcher", tolerance);
        return {context.models, [*this](const detail::gram& g) { return mean_of(g); }};
    }

private:
    std::vector<double> mean_of(const detail::gram& g) const {
        const std::size_t n = g.models();
        std::vector<std::size_t> kept;
        double norm = 0;
        for (std::size_t i = 0; i < n; ++i) {
            norm += g.norm(i) / static_cast<double>(n);
            if (g.norm(i) > 0) kept.push_back(i);
        }
        std::vector<double> mean(n);
        if (kept.empty()) return mean;
        const double share = 1 / static_cast<double>(kept.size());
        for (const std::size_t i : kept) mean[i] = share / g.norm(i);
        if (const double length = g.norm(mean); length > tolerance)
            for (double& m : mean) m /= length;
        else
            mean.assign(n, 0), mean[kept[0]] = 1 / g.norm(kept[0]);
        for (std::size_t iteration = 0; iteration < max_iterations; ++iteration) {
            std::vector<double> step(n);
            for (const std::size_t i : kept) {
                const double cosine = std::min(1.0, std::max(-1.0, g.product(mean, i) / g.norm(i)));
                const double angle = std::acos(cosine);
                if (angle < tolerance || std::sin(angle) == 0) continue;
                const double factor = share * angle / std::sin(angle);
                step[i] += factor / g.norm(i);
                for (std::size_t j = 0; j < n; ++j) step[j] -= factor * cosine * mean[j];
            }
            const double length = g.norm(step);
            if (!(length >= tolerance)) break;
            for (std::size_t j = 0; j < n; ++j)
                mean[j] = std::cos(length) * mean[j] + std::sin(length) * step[j] / length;
            const double drift = g.norm(mean);
            for (double& m : mean) m /= drift;
        }
        for (double& m : mean) m *= norm;
        return mean;
    }
};

/// From the base towards the mean of the task vectors, the further the more they agree: by N c / (1 + (N - 1) c), c the
/// mean cosine of all pairs, per tensor. Task vectors that cancel, where the denominator vanishes, leave the base; a
/// negative c leads away from the mean, as published.
/// Source: Jang, Yun and Han 2024.
struct model_stock {
    static constexpr std::string_view name = "model_stock";
    static constexpr bool needs_deltas = true;

    detail::gram_combination start(const tensor_context& context) const {
        if (context.models < 2) throw option_error("model_stock is given 1 model beside the base, expected 2 or more");
        return {context.models, [](const detail::gram& g) {
                    const auto n = static_cast<double>(g.models());
                    double sum = 0;
                    for (std::size_t i = 0; i < g.models(); ++i)
                        for (std::size_t j = 0; j < i; ++j) sum += g.cosine(i, j);
                    const double cosine = sum / (n * (n - 1) / 2);
                    const double denominator = 1 + (n - 1) * cosine;
                    const double share = denominator > 1e-9 ? n * cosine / denominator : 0;
                    return std::vector<double>(g.models(), share / n);
                }};
    }
};

} // namespace plait
