#pragma once

#include <plait/merge/check_options.hpp>
#include <plait/merge/magnitude_cut.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace plait {

/// Takes from the one model what matters and leaves the rest of the base: elements whose score is at least the median
/// of all by one and a half ranges between the quartiles. The score of an element is its change times the divergence
/// (Kullback-Leibler) of the softmax of its row, along the last axis, from the base's.
/// Quantiles are exact, over all elements.   Source: mergekit's arcee_fusion, which takes them of a sample.
struct arcee_fusion {
    static constexpr std::string_view name = "arcee_fusion";
    static constexpr bool needs_deltas = true;

    class run {
    public:
        struct partial_type {
            std::vector<detail::magnitude_cut::partial> quantiles;
            partial_type& operator+=(partial_type&& later) {
                for (std::size_t q = 0; q < quantiles.size(); ++q) quantiles[q] += std::move(later.quantiles[q]);
                return *this;
            }
        };

        explicit run(const tensor_context& context) {
            const plait::shape& s = context.shape;
            row_ = s.rank() == 0 ? 1 : std::max<std::size_t>(1, s[s.rank() - 1]);
            const std::size_t n = s.size();
            for (const double q : {0.25, 0.5, 0.75}) {
                const auto below = static_cast<std::size_t>(q * static_cast<double>(n == 0 ? 0 : n - 1));
                quantiles_.push_back(detail::magnitude_cut::of_rank(n - below, true));
            }
        }

        std::size_t elements_together() const { return row_; }
        bool is_settled() const { return std::ranges::all_of(quantiles_, &detail::magnitude_cut::has_smallest); }
        partial_type partial() const {
            partial_type p;
            for (const auto& q : quantiles_) p.quantiles.push_back(q.empty());
            return p;
        }
        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            const std::vector<double> scores = scores_of(b);
            const std::span<const double> row(scores);
            for (std::size_t q = 0; q < quantiles_.size(); ++q)
                quantiles_[q].observe(block<double>{b.first, {&row, 1}}, 0, p.quantiles[q]);
        }
        void settle(const partial_type& whole) {
            for (std::size_t q = 0; q < quantiles_.size(); ++q) quantiles_[q].settle(whole.quantiles[q]);
        }

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            const double quarter = quantiles_[0].smallest();
            const double median = quantiles_[1].smallest();
            const double threshold = median + 1.5 * (quantiles_[2].smallest() - quarter);
            const std::vector<double> scores = scores_of(b);
            for (std::size_t e = 0; e < out.size(); ++e)
                out[e] = scores[e] >= threshold ? static_cast<double>(b.values[0][e]) : 0;
        }

    private:
        template <std::floating_point F>
        std::vector<double> scores_of(const block<F>& b) const {
            std::vector<double> scores(b.size());
            std::vector<double> model(row_);
            std::vector<double> base(row_);
            for (std::size_t first = 0; first < scores.size(); first += row_) {
                for (std::size_t e = 0; e < row_; ++e) {
                    base[e] = static_cast<double>(b.base[first + e]);
                    model[e] = base[e] + static_cast<double>(b.values[0][first + e]);
                }
                softmax(model);
                softmax(base);
                double divergence = 0;
                for (std::size_t e = 0; e < row_; ++e) divergence += model[e] * std::log(model[e] / base[e]);
                divergence = std::max(0.0, divergence); // it is never negative but by rounding
                for (std::size_t e = 0; e < row_; ++e)
                    scores[first + e] = std::fabs(static_cast<double>(b.values[0][first + e])) * divergence;
            }
            return scores;
        }

        static void softmax(std::vector<double>& row) {
            const double largest = *std::ranges::max_element(row);
            double sum = 0;
            for (double& x : row) sum += x = std::exp(x - largest);
            for (double& x : row) x = x / sum + 1e-8;
        }

        std::size_t row_;
        std::vector<detail::magnitude_cut> quantiles_;
    };

    run start(const tensor_context& context) const {
        detail::check_model_count(name, context.models, 1);
        return run(context);
    }
};

} // namespace plait
