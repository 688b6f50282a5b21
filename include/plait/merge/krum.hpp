#pragma once

#include <plait/merge/contributions.hpp>

#include <algorithm>
#include <concepts>
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
    if (f > models || models < factor * f + 3)
        throw option_error(std::string(method) + " is given " + std::to_string(models)
                           + " models and f = " + std::to_string(f) + ", expected at least " + std::to_string(factor)
                           + " f + 3 = " + std::to_string(factor * f + 3) + " models");
}

} // namespace detail

/// The mean of the m contributions that lie nearest to their N - f - 2 nearest neighbours, over all merged tensors
/// together; of equal ones the first. Holds against f hostile ones among N >= 2 f + 3. The mean is plain: a weight that
/// a contributor claims would let one bad choice win.   Source: Blanchard et al. 2017.
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
            taken_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(m_));
            std::ranges::sort(taken_); // sums do not depend on who is nearest
        }
        const std::vector<std::size_t>& taken() const { return taken_; }

    private:
        std::size_t f_, m_;
        std::vector<std::size_t> taken_;
    };

    struct run {
        const survey_run& all;
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            std::ranges::fill(out, 0.0);
            for (const std::size_t k : all.taken())
                for (std::size_t e = 0; e < out.size(); ++e) out[e] += static_cast<double>(b.values[k][e]);
            for (double& x : out) x /= static_cast<double>(all.taken().size());
        }
    };

    survey_run survey(const model_context& context) const {
        detail::check_minority(name, f, context.models, 2);
        if (m < 1 || m > context.models - f)
            throw option_error("m of multi_krum is " + std::to_string(m)
                               + ", expected 1 to N - f = " + std::to_string(context.models - f));
        return {context, f, m};
    }
    run start(const tensor_context&, const survey_run& all) const { return {all}; }
};

/// The one contribution that lies nearest to its N - f - 2 nearest neighbours: multi_krum with m = 1.
/// Source: Blanchard et al. 2017.
struct krum {
    std::size_t f = 0; ///< contributions that may be hostile

    static constexpr std::string_view name = "krum";
    auto survey(const model_context& context) const {
        detail::check_minority(name, f, context.models, 2);
        return multi_krum{f, 1}.survey(context);
    }
    auto start(const tensor_context& context, const multi_krum::survey_run& all) const {
        return multi_krum{f, 1}.start(context, all);
    }
};

} // namespace plait
