#pragma once

#include <plait/merge/tall_mask.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace plait {
namespace detail {

/// Of the elements that have the sign of the sum (of a sum of 0: negative), the one of the largest magnitude; 0 where
/// there is none.
template <std::floating_point F>
double elected_extreme(const block<F>& b, std::size_t e) {
    const double sum = sum_at(b, e);
    double extreme = 0;
    for (const auto& x : b.values) {
        const auto v = static_cast<double>(x[e]);
        extreme = sum > 0 ? std::max(extreme, v) : std::min(extreme, v);
    }
    return extreme;
}

} // namespace detail

/// Elect, mask and rescale: per element the unified task vector has the elected sign and the largest magnitude that
/// agrees. A task's own model takes from it what agrees with its own signs, scaled so that the magnitudes of all
/// tensors sum to those of its own task vector. Without `task` the unified task vector itself is merged.
/// Source: Huang et al. 2024 (EMR-Merging): the paper's sums over all elements; its code sums the means of tensors.
///     for (k...) fuse(tuned, task_vectors{base} | emr{.task = k})
struct emr {
    std::optional<std::size_t> task = {}; ///< the position of its model

    static constexpr std::string_view name = "emr";
    static constexpr bool needs_deltas = true;

    class survey_run {
    public:
        struct partial_type {
            double own = 0;
            double masked = 0;
            partial_type& operator+=(const partial_type& later) {
                own += later.own;
                masked += later.masked;
                return *this;
            }
        };
        explicit survey_run(std::optional<std::size_t> task) : task_(task), is_settled_(!task) {}

        bool is_settled() const { return is_settled_; }
        partial_type partial() const { return {}; }
        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            for (std::size_t e = 0; e < b.size(); ++e) {
                p.own += std::fabs(static_cast<double>(b.values[*task_][e]));
                p.masked += std::fabs(masked(b, e));
            }
        }
        void settle(const partial_type& whole) {
            scale_ = whole.masked > 0 ? whole.own / whole.masked : 0;
            is_settled_ = true;
        }

        template <std::floating_point F>
        double masked(const block<F>& b, std::size_t e) const {
            const double unified = detail::elected_extreme(b, e);
            return !task_ || unified * static_cast<double>(b.values[*task_][e]) > 0 ? unified : 0;
        }
        double scale() const { return scale_; }

    private:
        std::optional<std::size_t> task_;
        bool is_settled_;
        double scale_ = 1;
    };

    struct run {
        const survey_run& all;
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) out[e] = all.scale() * all.masked(b, e);
        }
    };

    survey_run survey(const model_context& context) const {
        if (task && *task >= context.models)
            throw option_error("task of emr is " + std::to_string(*task) + ", expected a number below the "
                               + std::to_string(context.models) + " models");
        return survey_run(task);
    }
    run start(const tensor_context&, const survey_run& all) const { return {all}; }
};

} // namespace plait
