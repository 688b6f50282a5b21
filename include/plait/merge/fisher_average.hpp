#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/merge/check_options.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// Per element the mean of the models weighted with their Fisher information: sum(c_k F_k x_k) / sum(c_k F_k); where
/// that sum is 0, the mean with the weights alone.
///
/// `fishers` has the diagonal of each model's Fisher matrix as a checkpoint with the same names and shapes, in the
/// order of that model's own units: align and permute before such a merge. Throws shape_error when a tensor is missing
/// or has another shape, value_error on an entry that is negative or not finite. Source: Matena and Raffel 2022;
/// normalize as in Jin et al. 2023.
struct fisher_average {
    std::vector<model_view> fishers = {};
    std::vector<double> weights = {}; ///< empty: all 1
    double floor = 1e-6;              ///< entries below count as this
    bool floor_first_only = false;    ///< the other models count only where they have information
    double smoothing = 0;             ///< added to every entry
    bool normalize = false;           ///< divide a tensor's weight by the norm of its Fisher entries

    static constexpr std::string_view name = "fisher_average";
    static constexpr bool may_refuse_values = true;
    static constexpr bool reads_statistics = true;

    class run {
    public:
        run(const fisher_average& options, const tensor_context& context)
            : tensor_(context.name),
              weights_(detail::positive_weights_or_ones(name, options.weights, context.models)),
              floor_(options.floor),
              smoothing_(options.smoothing),
              floor_first_only_(options.floor_first_only),
              is_settled_(!options.normalize) {
            if (options.fishers.size() != context.models)
                throw option_error("fisher_average has " + std::to_string(options.fishers.size())
                                   + " checkpoints of Fisher entries for " + std::to_string(context.models)
                                   + " models, expected one per model");
            for (std::size_t k = 0; k < context.models; ++k) {
                const named_tensor* t = options.fishers[k].find(context.name);
                if (!t)
                    throw shape_error("the checkpoint of Fisher entries lacks this tensor",
                                      {.model = k, .tensor = tensor_});
                if (t->view.shape() != context.shape)
                    throw shape_error("the Fisher entries have shape " + to_string(t->view.shape()) + ", expected "
                                          + to_string(context.shape),
                                      {.model = k, .tensor = tensor_});
                fishers_.emplace_back(t->view);
            }
        }

        struct partial_type {
            std::vector<double> squares;
            partial_type& operator+=(const partial_type& later) {
                for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += later.squares[k];
                return *this;
            }
        };
        bool is_settled() const { return is_settled_; }
        partial_type partial() const { return {std::vector<double>(weights_.size())}; }
        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            std::vector<double> fisher(b.size());
            for (std::size_t k = 0; k < weights_.size(); ++k) {
                fishers_[k].read(b.first, b.size(), fisher.data());
                for (const double f : fisher) p.squares[k] += f * f;
            }
        }
        void settle(const partial_type& whole) {
            is_settled_ = true;
            std::vector<double> scaled = weights_;
            double sum = 0;
            for (std::size_t k = 0; k < scaled.size(); ++k) {
                const double norm = std::sqrt(whole.squares[k]) + smoothing_;
                sum += scaled[k] = norm > 0 ? scaled[k] / norm : 0; // a model without information has no say
            }
            if (!(sum > 0)) return;
            for (double& w : scaled) w /= sum;
            weights_ = std::move(scaled);
        }

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            std::vector<double> fisher(out.size());
            std::vector<double> total(out.size());
            std::vector<double> plain(out.size());
            double weight = 0;
            std::ranges::fill(out, 0.0);
            for (std::size_t k = 0; k < weights_.size(); ++k) {
                fishers_[k].read(b.first, out.size(), fisher.data());
                const double least = k == 0 || !floor_first_only_ ? floor_ : 0;
                for (std::size_t e = 0; e < out.size(); ++e) {
                    if (!(fisher[e] >= 0) || !std::isfinite(fisher[e]))
                        throw value_error("a Fisher entry is " + std::to_string(fisher[e])
                                              + ", expected a finite number of 0 or more",
                                          {.model = k, .tensor = tensor_});
                    const auto x = static_cast<double>(b.values[k][e]);
                    const double w = weights_[k] * std::max(least, fisher[e] + smoothing_);
                    out[e] += w * x;
                    total[e] += w;
                    plain[e] += weights_[k] * x;
                }
                weight += weights_[k];
            }
            if (!std::ranges::all_of(total, [](double t) { return std::isfinite(t); }))
                throw value_error("Fisher entries are so large that their sum is infinite, expected smaller ones",
                                  {.tensor = tensor_});
            for (std::size_t e = 0; e < out.size(); ++e) out[e] = total[e] > 0 ? out[e] / total[e] : plain[e] / weight;
        }

    private:
        std::string tensor_;
        std::vector<double> weights_;
        double floor_, smoothing_;
        bool floor_first_only_, is_settled_;
        std::vector<gathered_view> fishers_;
    };

    run start(const tensor_context& context) const {
        detail::check_not_negative("floor of fisher_average", floor);
        detail::check_not_negative("smoothing of fisher_average", smoothing);
        return {*this, context};
    }
};

} // namespace plait
