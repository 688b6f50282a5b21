#pragma once

#include <plait/merge/contributions.hpp>
#include <plait/merge/weighted_sum.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {
namespace detail {

/// Of the contributions in `from`, one score each: the sum of the squared distances to the `near` nearest of the
/// others in `from`.
inline std::vector<double> krum_scores(const contribution_distances& d, std::span<const std::size_t> from,
                                       std::size_t near) {
    std::vector<double> scores;
    for (const std::size_t i : from) {
        std::vector<double> to;
        for (const std::size_t j : from)
            if (j != i) to.push_back(d.squared(i, j));
        std::ranges::sort(to);
        const auto end = to.begin() + static_cast<std::ptrdiff_t>(std::min(near, to.size()));
        scores.push_back(std::accumulate(to.begin(), end, 0.0));
    }
    return scores;
}

inline void check_minority(std::string_view method, std::size_t f, std::size_t models, std::size_t factor) {
    if (models < 3 || f > (models - 3) / factor)
        throw option_error(std::string(method) + " is given " + std::to_string(models) + " models and f = "
                           + std::to_string(f) + ", expected at least " + std::to_string(factor) + " f + 3 models");
}

} // namespace detail

/// The mean of the m contributions that lie nearest to their N - f - 2 nearest neighbours, over all merged tensors
/// together; of equal ones the first. Holds against f hostile ones among N >= 2 f + 3. The mean is plain: a weight that
/// a contributor claims would let one bad choice win.   Refuses
/// contributions as trimmed_mean does.   Source: Blanchard et al. 2017.
struct multi_krum {
    std::size_t f = 0; ///< contributions that may be hostile
    std::size_t m = 1; ///< contributions that are taken, at most N - f

    static constexpr std::string_view name = "multi_krum";

    class survey_run : public detail::contribution_distances {
    public:
        survey_run(const model_context& context, std::size_t f, std::size_t m)
            : contribution_distances(context), f_(f), m_(m) {}
        void settle(const partial_type& whole) {
            contribution_distances::settle(whole);
            std::vector<std::size_t> order(models());
            std::iota(order.begin(), order.end(), std::size_t{0});
            const auto scores = detail::krum_scores(*this, order, models() - f_ - 2);
            std::ranges::stable_sort(order, {}, [&](std::size_t k) { return scores[k]; });
            shares_.assign(models(), 0);
            for (std::size_t i = 0; i < m_; ++i) shares_[order[i]] = 1 / static_cast<double>(m_);
        }
        /// Of each model in the mean.
        const std::vector<double>& shares() const { return shares_; }

    private:
        std::size_t f_, m_;
        std::vector<double> shares_;
    };

    survey_run survey(const model_context& context) const {
        detail::check_minority(name, f, context.models, 2);
        if (m < 1 || m > context.models - f)
            throw option_error("m of multi_krum is " + std::to_string(m)
                               + ", expected 1 to N - f = " + std::to_string(context.models - f));
        return {context, f, m};
    }
    detail::weighted_sum_run start(const tensor_context&, const survey_run& all) const {
        return detail::weighted_sum_run(all.shares());
    }
};

} // namespace plait
