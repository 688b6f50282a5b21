#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/contributions.hpp>
#include <plait/merge/weighted_sum.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// The point with the smallest sum of distances to the models, each over all merged tensors together: less than half of
/// them cannot move it far. Found by Weiszfeld's iteration on the distances between the models, in one pass over them;
/// stops where a step changes no coefficient by more than 1e-12. Refuses
/// contributions as trimmed_mean does.   Source: Weiszfeld 1937.
struct geometric_median {
    std::vector<double> weights = {}; ///< empty: all 1
    std::size_t max_iterations = 1000;

    static constexpr std::string_view name = "geometric_median";

    class survey_run : public detail::contribution_distances {
    public:
        survey_run(const model_context& context, std::vector<double> weights, std::size_t iterations)
            : contribution_distances(context), weights_(std::move(weights)), iterations_(iterations) {}

        void settle(const partial_type& whole) {
            contribution_distances::settle(whole);
            const std::size_t n = models();
            double largest = 0;
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < i; ++j) largest = std::max(largest, squared(i, j));
            const double nearest = std::max(1e-12 * std::sqrt(largest), 1e-300); // no distance is taken for less
            share_ = weights_;
            normalize(share_);
            for (std::size_t step = 0; step < iterations_; ++step) {
                std::vector<double> next(n);
                double spread = 0; // sum of c_i c_j d_ij^2 over pairs
                for (std::size_t i = 0; i < n; ++i)
                    for (std::size_t j = 0; j < i; ++j) spread += share_[i] * share_[j] * squared(i, j);
                for (std::size_t k = 0; k < n; ++k) {
                    double square = -spread;
                    for (std::size_t i = 0; i < n; ++i) square += share_[i] * squared(i, k);
                    next[k] = weights_[k] / std::max(nearest, std::sqrt(std::max(0.0, square)));
                }
                normalize(next);
                double change = 0;
                for (std::size_t k = 0; k < n; ++k) change = std::max(change, std::fabs(next[k] - share_[k]));
                share_ = next;
                if (change <= 1e-12) break;
            }
        }
        /// Of each model in the median; they sum to 1.
        const std::vector<double>& share() const { return share_; }

    private:
        static void normalize(std::vector<double>& c) {
            double sum = 0;
            for (const double x : c) sum += x;
            for (double& x : c) x /= sum;
        }

        std::vector<double> weights_;
        std::size_t iterations_;
        std::vector<double> share_;
    };

    survey_run survey(const model_context& context) const {
        return {context, detail::positive_weights_or_ones(name, weights, context.models), max_iterations};
    }
    detail::weighted_sum_run start(const tensor_context&, const survey_run& all) const {
        return detail::weighted_sum_run(all.share());
    }
};

} // namespace plait
