#pragma once

#include <plait/merge/merge_method.hpp>

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

inline void check_share(std::string_view option, double share) {
    if (!(share >= 0 && share <= 1))
        throw option_error(std::string(option) + " is " + std::to_string(share) + ", expected a share from 0 to 1");
}

inline void check_not_negative(std::string_view option, double x) {
    if (!(x >= 0) || !std::isfinite(x))
        throw option_error(std::string(option) + " is " + std::to_string(x)
                           + ", expected a finite number of 0 or more");
}

/// Weights of the models, all 1 when there are none. Throws option_error.
inline std::vector<double> weights_or_ones(std::string_view method, const std::vector<double>& weights,
                                           std::size_t models) {
    if (weights.empty()) return std::vector<double>(models, 1);
    if (weights.size() != models)
        throw option_error(std::string(method) + " has " + std::to_string(weights.size()) + " weights for "
                           + std::to_string(models) + " models, expected one per model");
    double sum = 0;
    for (const double w : weights) {
        check_finite("a weight of " + std::string(method), w);
        sum += std::fabs(w);
    }
    check_finite("the sum of the weights of " + std::string(method), sum);
    return weights;
}

/// The same, and each more than 0.
inline std::vector<double> positive_weights_or_ones(std::string_view method, const std::vector<double>& weights,
                                                    std::size_t models) {
    const auto w = weights_or_ones(method, weights, models);
    for (std::size_t k = 0; k < w.size(); ++k)
        if (!(w[k] > 0))
            throw option_error("weight " + std::to_string(k) + " of " + std::string(method) + " is "
                               + std::to_string(w[k]) + ", expected more than 0");
    return w;
}

} // namespace detail
} // namespace plait
