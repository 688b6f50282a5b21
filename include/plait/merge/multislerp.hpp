#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/gram_combination.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

/// The normalised weighted sum of directions, at the weighted mean norm. With task vectors, of these. Throws
/// value_error where the directions cancel.   Source: mergekit's multislerp.
struct multislerp {
    std::vector<double> weights = {}; ///< empty: equal
    bool normalize = true;            ///< weights that sum to 1

    static constexpr std::string_view name = "multislerp";
    static constexpr bool may_refuse_values = true;
    detail::gram_combination start(const tensor_context& context) const {
        auto w = detail::weights_or_ones(name, weights, context.models);
        double sum = 0;
        for (const double x : w) sum += x;
        if (normalize && sum == 0)
            throw option_error("the weights of multislerp sum to 0, expected another number; or .normalize = false");
        if (normalize)
            for (double& x : w) x /= sum;
        return {context, [w, tensor = std::string(context.name)](const detail::gram& g) { return at(g, w, tensor); }};
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
        if (length <= 1e-12) {
            if (n == 2 || norm == 0) return w;
            throw value_error("the weighted directions of the models cancel, expected a mean direction",
                              {.tensor = tensor});
        }
        // At the mean direction the mean of the tangents is 0: the published step along it goes nowhere.
        for (double& m : mean) m *= norm / length;
        return mean;
    }
};

} // namespace plait
