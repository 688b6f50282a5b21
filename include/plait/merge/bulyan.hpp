#pragma once

#include <plait/merge/multi_krum.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace plait {

/// krum chooses N - 2 f contributions, one after the other from those that are left; then per element the mean of the
/// N - 4 f of their values that are nearest to their median, of equal distances the smaller. Holds against f hostile
/// contributions among N >= 4 f + 3, in every element.
/// Refuses contributions as trimmed_mean does.   Source: El Mhamdi et al. 2018.
struct bulyan {
    std::size_t f = 0; ///< contributions that may be hostile

    static constexpr std::string_view name = "bulyan";

    class survey_run : public detail::contribution_distances {
    public:
        survey_run(const model_context& context, std::size_t f) : contribution_distances(context), f_(f) {}
        void settle(const partial_type& whole) {
            contribution_distances::settle(whole);
            std::vector<std::size_t> left(models());
            std::iota(left.begin(), left.end(), std::size_t{0});
            while (taken_.size() < models() - 2 * f_) {
                const std::size_t near = left.size() > f_ + 2 ? left.size() - f_ - 2 : 1;
                const auto scores = detail::krum_scores(*this, left, near);
                const auto best = std::ranges::min_element(scores) - scores.begin();
                taken_.push_back(left[static_cast<std::size_t>(best)]);
                left.erase(left.begin() + best);
            }
        }
        const std::vector<std::size_t>& taken() const { return taken_; }
        std::size_t averaged() const { return models() - 4 * f_; }

    private:
        std::size_t f_;
        std::vector<std::size_t> taken_;
    };

    struct run {
        const survey_run& all;
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            const std::size_t n = all.taken().size();
            const std::size_t wanted = all.averaged();
            std::vector<double> values(n);
            for (std::size_t e = 0; e < out.size(); ++e) {
                for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<double>(b.values[all.taken()[i]][e]);
                std::ranges::sort(values);
                const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
                // The nearest stand together in the order of values.
                std::size_t first = 0;
                while (first + wanted < n && values[first + wanted] - median < median - values[first]) ++first;
                double sum = 0;
                for (std::size_t i = first; i < first + wanted; ++i) sum += values[i];
                out[e] = sum / static_cast<double>(wanted);
            }
        }
    };

    survey_run survey(const model_context& context) const {
        detail::check_minority(name, f, context.models, 4);
        return {context, f};
    }
    run start(const tensor_context&, const survey_run& all) const { return {all}; }
};

} // namespace plait
