#pragma once

#include <plait/core/convert.hpp>
#include <plait/core/instruction_set.hpp>
#include <plait/core/scratch.hpp>
#include <plait/merge/combine.hpp>
#include <plait/merge/describe.hpp>
#include <plait/merge/elect.hpp>
#include <plait/merge/linear_combination.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/ranged_sum.hpp>
#include <plait/merge/rescaling.hpp>
#include <plait/merge/sparsify.hpp>
#include <plait/merge/stepwise_sum.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

namespace detail {

inline void multiply(std::span<double> x, double factor) {
    with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
        const double by = factor;
        for (double& value : x) value *= by;
    });
}

} // namespace detail

struct composition_options {
    std::vector<double> weights = {}; ///< of the models; empty: all 1
    double lambda = 1;                ///< of the result
    rescaling rescale = rescaling::none;
};

/// A merge method made of building blocks: sparsify each model, weigh, elect a sign per element, combine, scale.
///     composition{top_k_by_magnitude{.2}, elect_by_sum{}, sum_of{divisor::count}, {.lambda = .7}}
template <class Sparsifier, class Elector, class Combiner>
class composition {
public:
    static_assert(sparsifier<Sparsifier>, "plait: the first block of composition{sparsify, elect, combine} must "
                                          "sparsify: keep_all, top_k_by_magnitude, magnitude_band, bernoulli");
    static_assert(elector<Elector>, "plait: the second block of composition{sparsify, elect, combine} must elect a "
                                    "sign: no_election, elect_by_sum, elect_by_count");
    static_assert(combiner<Combiner>, "plait: the third block of composition{sparsify, elect, combine} must combine: "
                                      "sum_of, largest_of");
    static constexpr std::string_view name = "composition";
    static constexpr bool has_mergekit_bits = std::same_as<Combiner, sum_of> && requires { Elector::cast; };

    composition(Sparsifier sparsify, Elector, Combiner combine, composition_options options = {})
        : sparsify_(std::move(sparsify)), combine_(std::move(combine)), options_(std::move(options)) {}

    std::string describe() const {
        return "composition{" + plait::describe(sparsify_) + ", " + plait::describe(Elector{}) + ", "
               + plait::describe(combine_) + ", " + plait::describe(options_) + "}";
    }

    class run {
        static auto sparse_run_of() { // never called: its type
            const Sparsifier* none = nullptr;
            if constexpr (surveying_method<Sparsifier>)
                return none->start(tensor_context{}, none->survey(model_context{}));
            else
                return none->start(tensor_context{});
        }
        using sparse_run = decltype(sparse_run_of());
        static constexpr bool observes = requires { typename sparse_run::partial_type; };
        static constexpr bool only_adds = std::same_as<Combiner, sum_of> && requires { Elector::cast; };
        static constexpr bool keeps_ranges = only_adds && requires(const sparse_run& run) {
            run.template range<float>(std::size_t{}, std::size_t{}, std::size_t{});
        };
        static constexpr bool may_be_linear =
            std::same_as<Sparsifier, keep_all> && std::same_as<Elector, no_election> && std::same_as<Combiner, sum_of>;
        struct nothing {
            nothing& operator+=(const nothing&) { return *this; }
        };
        static auto partial_of() {
            if constexpr (observes)
                return std::optional<typename sparse_run::partial_type>();
            else
                return nothing{};
        }

    public:
        struct partial_type {
            decltype(partial_of()) sparse = {};        // what the sparsifier sees until it is settled
            std::vector<detail::norm_sum> before = {}; // then norms, per model
            std::vector<detail::norm_sum> after = {};

            partial_type& operator+=(partial_type&& later) {
                if constexpr (observes)
                    if (sparse) *sparse += std::move(*later.sparse);
                for (std::size_t k = 0; k < before.size(); ++k) {
                    before[k] += later.before[k];
                    after[k] += later.after[k];
                }
                return *this;
            }
        };

        run(const composition& method, const tensor_context& context, sparse_run sparse)
            : sparse_(std::move(sparse)),
              combine_(method.combine_),
              weights_(detail::weights_or_ones("the composition", method.options_.weights, context.models)),
              lambda_(method.options_.lambda),
              rescale_(method.options_.rescale),
              is_scaled_(rescale_ == rescaling::none || rescale_ == rescaling::by_density) {
            detail::check_finite("lambda", lambda_);
            const double density = method.sparsify_.density;
            const bool divides = method.options_.rescale == rescaling::by_density && density > 0;
            scales_.assign(context.models, divides ? 1 / density : 1);
            detail::check_finite("1 / density", scales_[0]);
            if constexpr (may_be_linear)
                if (combine_.divide_by != divisor::count && is_scaled_ && !context.as_mergekit)
                    linear_.emplace(coefficients());
            if constexpr (only_adds)
                if (context.as_mergekit)
                    stepwise_.emplace(context.type, Elector::cast, combine_.divide_by, weights_, lambda_);
        }

        bool is_settled() const { return is_sparse() && is_scaled_; }

        std::size_t elements_together() const {
            if constexpr (requires { sparse_.elements_together(); })
                return sparse_.elements_together();
            else
                return 1;
        }

        partial_type partial() const {
            partial_type p;
            if (is_sparse()) {
                p.before.assign(weights_.size(), detail::norm_sum(rescale_));
                p.after = p.before;
            } else if constexpr (observes) {
                p.sparse = sparse_.partial();
            }
            return p;
        }

        std::size_t wanted(std::size_t first) const {
            if constexpr (choosy_watcher<sparse_run>)
                if (!is_sparse()) return sparse_.wanted(first);
            return all_elements;
        }

        template <std::floating_point F>
        void observe(const block<F>& exact, partial_type& p) const {
            detail::scratch rounded;
            std::vector<std::span<const F>> values;
            const block<F> b = stepwise_ ? stepwise_->rounded(exact, rounded, values) : exact;
            if constexpr (observes)
                if (p.sparse) return sparse_.observe(b, *p.sparse);
            detail::scratch memory;
            const std::span kept(memory.of<double>(b.size()), b.size());
            for (std::size_t k = 0; k < b.values.size(); ++k) {
                detail::widen<F>(reinterpret_cast<const std::byte*>(b.values[k].data()), b.size(), kept.data());
                p.before[k].add(kept);
                sparse_.apply(b, k, 0, kept);
                p.after[k].add(kept);
            }
        }

        bool observe_raw(const raw_block& b, partial_type& p) const {
            if constexpr (raw_watcher<sparse_run>)
                return p.sparse && !stepwise_ && sparse_.observe_raw(b, *p.sparse);
            else
                return false;
        }

        void settle(const partial_type& whole) {
            if constexpr (observes)
                if (whole.sparse) return sparse_.settle(*whole.sparse);
            for (std::size_t k = 0; k < scales_.size(); ++k) {
                const double before = whole.before[k].norm(), after = whole.after[k].norm();
                if (stepwise_)
                    scales_[k] = stepwise_->rescaling_of(before, after);
                else if (after > 0)
                    scales_[k] = before / after;
            }
            is_scaled_ = true;
        }

        template <std::floating_point F>
        void combine(const block<F>& exact, std::span<double> out) const {
            if (linear_) return linear_->combine(exact, out);
            if constexpr (keeps_ranges)
                if (!stepwise_ && combine_ranges(exact, out)) return;
            detail::scratch rounded;
            std::vector<std::span<const F>> differences;
            const block<F> b = stepwise_ ? stepwise_->rounded(exact, rounded, differences) : exact;
            const std::size_t tile = elements_together() > 1 ? out.size() : 512;
            detail::scratch memory;
            const std::size_t count = (b.values.size() + 1) * tile;
            const std::span numbers(memory.of<double>(count), count);
            std::vector<std::span<double>> rows(b.values.size());
            for (std::size_t at = 0; at < out.size(); at += tile) {
                const std::size_t n = std::min(tile, out.size() - at);
                for (std::size_t k = 0; k < rows.size(); ++k) {
                    rows[k] = numbers.subspan(k * tile, n);
                    sparse_.apply(b, k, at, rows[k]);
                }
                combine_rows(rows, numbers.subspan(rows.size() * tile, n), out.subspan(at, n));
            }
        }

        bool combine_raw(const raw_block& b, std::byte* out) const requires(keeps_ranges || may_be_linear) {
            if (linear_) return linear_->combine_raw(b, out);
            if (stepwise_) return false;
            if constexpr (keeps_ranges)
                return visit_floating(b.type, [&]<class T>(T) {
                    if constexpr (sizeof(T) <= 2)
                        if (fits_float() && add_ranges<float, T, T>(b, out)) return true;
                    return add_ranges<double, T, T>(b, out);
                });
            else
                return false;
        }

    private:
        // Of sparse elements, which it may change; `spare` is as long as a row.
        void combine_rows(std::span<const std::span<double>> rows, std::span<double> spare,
                          std::span<double> out) const {
            if (stepwise_) return stepwise_->combine(rows, scales_, out);
            if constexpr (only_adds) {
                std::vector<const std::byte*> values;
                for (const auto& row : rows) values.push_back(reinterpret_cast<const std::byte*>(row.data()));
                sum<double>([](std::size_t) { return detail::magnitude_range<double>{}; })
                    .template combine<double, double>(values, nullptr, out.size(),
                                                      reinterpret_cast<std::byte*>(out.data()));
            } else {
                for (std::size_t k = 0; k < rows.size(); ++k) detail::multiply(rows[k], weights_[k] * scales_[k]);
                Elector::sign(rows, spare);
                combine_.combine(rows, weights_, spare, out);
                detail::multiply(out, lambda_);
            }
        }

        // range_of(model)
        template <std::floating_point F, class RangeOf>
        auto sum(const RangeOf& range_of) const {
            std::vector<detail::ranged_model<F>> models(weights_.size());
            for (std::size_t k = 0; k < models.size(); ++k)
                models[k] = {range_of(k), static_cast<F>(weights_[k] * scales_[k]),
                             static_cast<F>(combine_.share(weights_[k])),
                             static_cast<F>(combine_.share_of_zero(weights_[k]))};
            const bool divides = combine_.divide_by != divisor::one;
            return detail::ranged_sum<Elector::cast, F>(std::move(models), divides, smallest_divisor, lambda_);
        }

        template <std::floating_point F>
        bool combine_ranges(const block<F>& b, std::span<double> out) const {
            std::vector<const std::byte*> values;
            for (const auto& v : b.values) values.push_back(reinterpret_cast<const std::byte*>(v.data()));
            return add_ranges<double, F, double>({dtype_of<F>::value, b.first, b.size(), values, nullptr},
                                                 reinterpret_cast<std::byte*>(out.data()));
        }

        template <std::floating_point F, class In, class Out>
        bool add_ranges(const raw_block& b, std::byte* out) const {
            std::vector<detail::magnitude_range<F>> ranges;
            for (std::size_t k = 0; k < weights_.size(); ++k) {
                const auto range = sparse_.template range<F>(b.first, b.count, k);
                if (!range) return false;
                ranges.push_back(*range);
            }
            return sum<F>([&](std::size_t k) { return ranges[k]; })
                .template combine<In, Out>(b.models, b.base, b.count, out);
        }

        // Weights of both signs may cancel in the divisor, in float not quite.
        bool fits_float() const {
            const bool has_one_sign = std::ranges::none_of(weights_, [](double w) { return w < 0; });
            return has_one_sign && detail::sums_fit_float(weights_, lambda_) && detail::sums_fit_float(scales_, 1);
        }

        std::vector<double> coefficients() const {
            std::vector<double> c = weights_;
            const double total = std::accumulate(c.begin(), c.end(), 0.0);
            const bool divides = combine_.divide_by == divisor::weights && std::fabs(total) >= smallest_divisor;
            for (double& x : c) x *= divides ? lambda_ / total : lambda_;
            return c;
        }

        bool is_sparse() const {
            if constexpr (observes)
                return sparse_.is_settled();
            else
                return true;
        }

        sparse_run sparse_;
        Combiner combine_;
        std::vector<double> weights_;
        std::vector<double> scales_; // of the models' kept elements
        double lambda_;
        rescaling rescale_;
        bool is_scaled_;
        std::optional<detail::linear_combination> linear_;
        std::optional<detail::stepwise_sum> stepwise_; // only as mergekit
    };

    run start(const tensor_context& context) const requires(!surveying_method<Sparsifier>) {
        return {*this, context, sparsify_.start(context)};
    }

    auto survey(const model_context& models) const requires(surveying_method<Sparsifier>) {
        return sparsify_.survey(models);
    }
    template <class Survey>
    run start(const tensor_context& context, const Survey& all) const requires(surveying_method<Sparsifier>) {
        return {*this, context, sparsify_.start(context, all)};
    }

private:
    Sparsifier sparsify_;
    [[no_unique_address]] Combiner combine_;
    composition_options options_;
};

} // namespace plait
