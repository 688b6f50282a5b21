#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/magnitude_cut.hpp>
#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// Select the elements whose task vectors vary most between the models, weigh each model by the energy of its selected
/// elements, erase what disagrees with the sign of the sum, and take the weighted mean of the rest.
///
/// Of the elements that vary at all, floor(select_topk n) are selected; where none varies, the base stays. Models
/// without any energy count alike.   Source: Wan et al. 2024 (FuseChat), as mergekit's sce.
struct sce {
    double select_topk = 1;

    static constexpr std::string_view name = "sce";
    static constexpr bool needs_deltas = true;

    class run {
    public:
        struct partial_type {
            std::size_t varying = 0;
            std::optional<detail::magnitude_cut::partial> variances = {};
            std::vector<double> energies = {};

            partial_type& operator+=(partial_type&& later) {
                varying += later.varying;
                if (variances) *variances += std::move(*later.variances);
                for (std::size_t k = 0; k < energies.size(); ++k) energies[k] += later.energies[k];
                return *this;
            }
        };

        run(double share, const tensor_context& context)
            : share_(share), size_(context.shape.size()), models_(context.models) {
            if (share == 1) selected_.emplace(size_, size_, true);
        }

        bool is_settled() const { return !weights_.empty(); }
        partial_type partial() const {
            partial_type p;
            if (!selected_)
                return p;
            else if (!selected_->is_settled())
                p.variances = selected_->empty();
            else
                p.energies.resize(models_);
            return p;
        }

        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            const auto variances = variances_of(b);
            if (!selected_) {
                p.varying += static_cast<std::size_t>(std::ranges::count_if(variances, [](double v) { return v > 0; }));
                return;
            }
            const std::span<const double> row(variances);
            const block<double> seen{b.first, {&row, 1}};
            if (p.variances) return selected_->observe(seen, 0, *p.variances);
            selected_->for_each(seen, 0, 0, b.size(), [&](std::size_t e, bool is_selected) {
                for (std::size_t k = 0; is_selected && k < models_; ++k) {
                    const auto x = static_cast<double>(b.values[k][e]);
                    p.energies[k] += x * x;
                }
            });
        }

        void settle(const partial_type& whole) {
            if (!selected_) {
                const auto n = static_cast<std::size_t>(share_ * static_cast<double>(whole.varying));
                selected_.emplace(n, size_, true);
            } else if (!selected_->is_settled()) {
                selected_->settle(*whole.variances);
            } else {
                double sum = 0;
                for (const double e : whole.energies) sum += e;
                weights_.assign(models_, 1 / static_cast<double>(models_));
                for (std::size_t k = 0; sum > 0 && k < models_; ++k) weights_[k] = whole.energies[k] / sum;
            }
        }

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            const auto variances = variances_of(b);
            const std::span<const double> row(variances);
            selected_->for_each(block<double>{b.first, {&row, 1}}, 0, 0, b.size(),
                                [&](std::size_t e, bool is_selected) { out[e] = is_selected ? mean_at(b, e) : 0; });
        }

    private:
        template <std::floating_point F>
        double mean_at(const block<F>& b, std::size_t e) const {
            double total = 0;
            for (const auto& x : b.values) total += static_cast<double>(x[e]);
            double sum = 0;
            double weight = 0;
            for (std::size_t k = 0; k < models_; ++k) {
                const auto x = static_cast<double>(b.values[k][e]);
                if (total >= 0 ? x > 0 : x < 0) sum += weights_[k] * x, weight += weights_[k];
            }
            return weight > 0 ? sum / weight : 0;
        }

        // Of the models' elements, over the models.
        template <std::floating_point F>
        std::vector<double> variances_of(const block<F>& b) const {
            const auto n = static_cast<double>(models_);
            std::vector<double> result(b.size());
            for (std::size_t e = 0; e < result.size(); ++e) {
                double mean = 0;
                for (const auto& x : b.values) mean += static_cast<double>(x[e]) / n;
                for (const auto& x : b.values) {
                    const double d = static_cast<double>(x[e]) - mean;
                    result[e] += d * d / n;
                }
                if (std::ranges::all_of(b.values, [&](const auto& x) { return x[e] == b.values[0][e]; })) result[e] = 0;
            }
            return result;
        }

        double share_;
        std::size_t size_;
        std::size_t models_;
        std::optional<detail::magnitude_cut> selected_; // once it is known how many elements vary
        std::vector<double> weights_;
    };

    run start(const tensor_context& context) const {
        detail::check_share("select_topk of sce", select_topk);
        return {select_topk, context};
    }
};

} // namespace plait
