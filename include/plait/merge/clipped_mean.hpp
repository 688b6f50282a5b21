#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/contributions.hpp>
#include <plait/merge/weighted_sum.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// The weighted mean of task vectors of which none is longer, over all merged tensors together, than `multiple` times
/// the median of their norms, and none weighs more than `weight_cap` times the median weight: what a server does that
/// cannot know its contributors. Unlike medians it keeps the weights of the honest. Refuses contributions as
/// trimmed_mean does: of two that changed nothing, the second. Source: Sun et al. 2019 (norm bounding).
///     fuse(contributions, task_vectors{global} | clipped_mean{.weights = examples})
struct clipped_mean {
    std::vector<double> weights = {}; ///< empty: all 1; none below 0
    double multiple = 1;
    double weight_cap = 2;

    static constexpr std::string_view name = "clipped_mean";
    static constexpr bool needs_deltas = true;

    class survey_run : public detail::contributions {
    public:
        survey_run(const model_context& context, std::vector<double> weights, double multiple)
            : contributions(context), factors_(std::move(weights)), multiple_(multiple) {}
        void settle(const partial_type& whole) {
            contributions::settle(whole);
            const double longest = multiple_ * median_of(norms());
            for (std::size_t k = 0; k < factors_.size(); ++k)
                if (norms()[k] > longest) factors_[k] *= longest / norms()[k];
        }
        /// What each task vector is multiplied with.
        const std::vector<double>& factors() const { return factors_; }

    private:
        std::vector<double> factors_;
        double multiple_;
    };

    survey_run survey(const model_context& context) const {
        if (!(multiple > 0) || !std::isfinite(multiple))
            throw option_error("multiple of clipped_mean is " + std::to_string(multiple)
                               + ", expected a number above 0");
        if (!(weight_cap > 0))
            throw option_error("weight_cap of clipped_mean is " + std::to_string(weight_cap)
                               + ", expected a number above 0");
        auto w = detail::weights_or_ones(name, weights, context.models);
        for (const double x : w) detail::check_not_negative("a weight of clipped_mean", x);
        const double cap = weight_cap * median_of(w);
        double sum = 0;
        for (double& x : w) sum += x = std::min(x, cap);
        if (!(sum > 0)) throw option_error("the capped weights of clipped_mean sum to 0, expected more");
        for (double& x : w) x /= sum;
        return {context, std::move(w), multiple};
    }
    detail::weighted_sum_run start(const tensor_context&, const survey_run& all) const {
        return detail::weighted_sum_run(all.factors());
    }

private:
    static double median_of(std::vector<double> x) {
        std::ranges::sort(x);
        return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
    }
};

} // namespace plait
