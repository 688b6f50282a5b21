#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/gram_combination.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

/// The Riemannian mean of the directions on the sphere, at the mean norm. With task vectors, of these. Where the
/// directions cancel it begins, and may stay, at that of the first.   Source: Karcher 1977.
struct karcher {
    std::size_t max_iterations = 10;
    double tolerance = 1e-5;

    static constexpr std::string_view name = "karcher";
    detail::gram_combination start(const tensor_context& context) const {
        if (!(tolerance >= 0))
            throw option_error("tolerance of karcher is " + std::to_string(tolerance) + ", expected 0 or more");
        return {context, [*this](const detail::gram& g) { return mean_of(g); }};
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
        if (const double length = g.norm(mean); length > std::max(tolerance, 1e-7))
            for (double& m : mean) m /= length;
        else
            mean.assign(n, 0), mean[kept[0]] = 1 / g.norm(kept[0]);
        for (std::size_t iteration = 0; iteration < max_iterations; ++iteration) {
            std::vector<double> step(n);
            for (const std::size_t i : kept) {
                const double cosine = std::min(1.0, std::max(-1.0, g.product(mean, i) / g.norm(i)));
                const double angle = std::acos(cosine);
                // Opposite to the mean, all ways towards it are as short: it does not pull.
                if (angle < tolerance || angle == 0 || cosine < -1 + 1e-10) continue;
                const double factor = share * angle / std::sin(angle);
                step[i] += factor / g.norm(i);
                for (std::size_t j = 0; j < n; ++j) step[j] -= factor * cosine * mean[j];
            }
            const double length = g.norm(step);
            if (!(length > tolerance)) break;
            for (std::size_t j = 0; j < n; ++j)
                mean[j] = std::cos(length) * mean[j] + std::sin(length) * step[j] / length;
            const double drift = g.norm(mean);
            for (double& m : mean) m /= drift;
        }
        for (double& m : mean) m *= norm;
        return mean;
    }
};

} // namespace plait
