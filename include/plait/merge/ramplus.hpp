#pragma once

#include <plait/merge/check_options.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace plait {

/// ram, with what only one model changed made up for what it shares with others: times 1 + r min(alpha, s / u), where
/// that model changed u elements of the tensor alone and s together with others.   Source: mergekit's ramplus_tl.
struct ramplus {
    double epsilon = 1e-5;
    double r = 0.1;
    double alpha = 0.2;

    static constexpr std::string_view name = "ramplus";
    static constexpr bool needs_deltas = true;

    class run {
    public:
        struct partial_type {
            std::vector<std::size_t> alone, shared; // elements, per model
            partial_type& operator+=(const partial_type& later) {
                for (std::size_t k = 0; k < alone.size(); ++k) {
                    alone[k] += later.alone[k];
                    shared[k] += later.shared[k];
                }
                return *this;
            }
        };

        run(double epsilon, double r, double alpha, std::size_t models)
            : epsilon_(epsilon), r_(r), alpha_(alpha), models_(models) {}

        bool is_settled() const { return !factors_.empty(); }
        partial_type partial() const { return {std::vector<std::size_t>(models_), std::vector<std::size_t>(models_)}; }
        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            for (std::size_t e = 0; e < b.size(); ++e) {
                const std::size_t changed = changed_at(b, e);
                for (std::size_t k = 0; k < models_; ++k)
                    if (is_changed(b.values[k][e])) ++(changed > 1 ? p.shared : p.alone)[k];
            }
        }
        void settle(const partial_type& whole) {
            for (std::size_t k = 0; k < models_; ++k) {
                const double alone = static_cast<double>(std::max<std::size_t>(1, whole.alone[k]));
                factors_.push_back(1 + r_ * std::min(alpha_, static_cast<double>(whole.shared[k]) / alone));
            }
        }
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) {
                const std::size_t changed = changed_at(b, e);
                out[e] = 0;
                for (std::size_t k = 0; k < models_; ++k)
                    if (is_changed(b.values[k][e]))
                        out[e] += static_cast<double>(b.values[k][e]) * (changed == 1 ? factors_[k] : 1);
                if (changed > 1) out[e] /= static_cast<double>(changed);
            }
        }

    private:
        template <std::floating_point F>
        bool is_changed(F x) const {
            return std::fabs(static_cast<double>(x)) > epsilon_;
        }
        template <std::floating_point F>
        std::size_t changed_at(const block<F>& b, std::size_t e) const {
            return static_cast<std::size_t>(
                std::ranges::count_if(b.values, [&](const auto& x) { return is_changed(x[e]); }));
        }

        double epsilon_, r_, alpha_;
        std::size_t models_;
        std::vector<double> factors_; // of what a model changed alone
    };

    run start(const tensor_context& context) const {
        detail::check_not_negative("epsilon of ramplus", epsilon);
        detail::check_finite("r of ramplus", r);
        detail::check_finite("alpha of ramplus", alpha);
        return {epsilon, r, alpha, context.models};
    }
};

} // namespace plait
