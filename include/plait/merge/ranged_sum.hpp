#pragma once

#include <plait/core/arithmetic_avx2.hpp>
#include <plait/core/convert.hpp>
#include <plait/merge/elect.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace plait::detail {

/// Keeps a magnitude m where !(m < lowest), so NaN too, and, where there is a band, m < highest.
template <std::floating_point F>
struct magnitude_range {
    F lowest = 0;
    F highest = 0;
    bool is_band = false;
};

/// What is added up of a model's elements in its range.
template <std::floating_point F>
struct ranged_model {
    magnitude_range<F> range;
    F factor;        ///< of its elements
    F share;         ///< of the divisor, of each element that counts
    F share_of_zero; ///< of each that is 0, where no sign is elected
};

/// The election and the sum of composition in one pass over memory, in F.   Complexity: O(models) per element.
template <ballot Cast, std::floating_point F>
class ranged_sum {
public:
    /// `divides`: by the sum of the shares, where that is not below `smallest`.
    ranged_sum(std::vector<ranged_model<F>> models, bool divides, double smallest, double lambda)
        : models_(std::move(models)),
          kept_(models_.size() * step),
          divides_(divides),
          smallest_(static_cast<F>(smallest)),
          lambda_(static_cast<F>(lambda)) {}

    /// Of `count` elements of type In per model. With a base (not null) their differences from it are combined, and
    /// added to it. Returns false where a sum is not finite in float: it may be in double.
    template <class In, class Out>
    bool combine(std::span<const std::byte* const> models, const std::byte* base, std::size_t count, std::byte* out) {
        std::size_t i = 0;
        while (i < count) {
#if PLAIT_HAS_AVX2_FUNCTIONS
            if constexpr (has_steps<In, Out>)
                if (has_avx2()) i = (this->*steps<In, Out>(base != nullptr))(models, base, i, count, out);
#endif
            // Steps end early where an element is to be rounded on its own.
            for (std::size_t left = step; left > 0 && i < count; --left, ++i)
                if (!combine_element<In, Out>(models, base, i, out)) return false;
        }
        return true;
    }

private:
    static constexpr std::size_t step = 8;
    static constexpr bool elects = Cast != ballot::none;

    template <class In, class Out>
    bool combine_element(std::span<const std::byte* const> models, const std::byte* base, std::size_t i,
                         std::byte* out) {
        const auto load = [i](const std::byte* from) { return static_cast<F>(load_as<In>(from + i * sizeof(In))); };
        const F from = base ? load(base) : 0;
        F votes = 0, sum = 0, shares = 0;
        for (std::size_t k = 0; k < models.size(); ++k) {
            const auto& [range, factor, share, share_of_zero] = models_[k];
            const F x = base ? load(models[k]) - from : load(models[k]);
            const F m = std::fabs(x);
            const bool is_kept = !(m < range.lowest) && (!range.is_band || m < range.highest);
            kept_[k] = (is_kept ? x : 0) * factor;
            if (Cast == ballot::value) votes += kept_[k];
            if (Cast == ballot::sign) votes += static_cast<F>((kept_[k] > 0) - (kept_[k] < 0));
        }
        for (std::size_t k = 0; k < models.size(); ++k) {
            const F x = kept_[k];
            if (elects && !(votes >= 0 ? x > 0 : x < 0)) continue;
            sum += x;
            shares += !elects && x == 0 ? models_[k].share_of_zero : models_[k].share;
        }
        if (divides_ && (shares >= smallest_ || shares <= -smallest_)) sum /= shares;
        sum *= lambda_;
        if (base) sum += from;
        store_as<Out>(sum, out + i * sizeof(Out));
        return std::same_as<F, double> || std::isfinite(sum);
    }

#if PLAIT_HAS_AVX2_FUNCTIONS
    template <class In, class Out>
    static constexpr bool has_steps = std::same_as<F, double> ? (avx2::can_convert<In> || std::same_as<In, double>)&&(
                                          avx2::can_convert<Out> || std::same_as<Out, double>)
                                                              : avx2::can_convert<In>&& avx2::can_convert<Out>;

    template <class In, class Out>
    auto steps(bool has_base) const {
        if (divides_)
            return has_base ? &ranged_sum::combine_steps<In, Out, true, true>
                            : &ranged_sum::combine_steps<In, Out, false, true>;
        return has_base ? &ranged_sum::combine_steps<In, Out, true, false>
                        : &ranged_sum::combine_steps<In, Out, false, false>;
    }

    // As combine_element() for whole steps from element i on, up to one in which an element has to be rounded on its
    // own; returns where that is.
    template <class In, class Out, bool HasBase, bool Divides>
    PLAIT_AVX2_FUNCTION std::size_t combine_steps(std::span<const std::byte* const> models, const std::byte* base,
                                                  std::size_t i, std::size_t count, std::byte* out) {
        using sums = avx2::step_of<F>;
        const std::byte* const* const model = models.data();
        const ranged_model<F>* const of = models_.data();
        const std::size_t last = models.size();
        F* const kept = kept_.data();
        sums zero, one, lambda, smallest;
        avx2::fill(zero, 0);
        avx2::fill(one, 1);
        avx2::fill(lambda, lambda_);
        avx2::fill(smallest, smallest_);
        for (; i + step <= count; i += step) {
            const std::size_t at = i * sizeof(In);
            sums from, votes = zero, sum = zero, shares = zero;
            if constexpr (HasBase) avx2::load(base + at, from, In{});
            for (std::size_t k = 0; k < last; ++k) {
                sums x, bound;
                avx2::load(model[k] + at, x, In{});
                if constexpr (HasBase) x = avx2::subtract(x, from);
                const sums m = avx2::magnitude(x);
                avx2::fill(bound, of[k].range.lowest);
                x = avx2::drop_where(avx2::is_below(m, bound), x);
                if (of[k].range.is_band) {
                    avx2::fill(bound, of[k].range.highest);
                    x = avx2::keep_where(avx2::is_below(m, bound), x);
                }
                avx2::fill(bound, of[k].factor);
                x = avx2::multiply(x, bound);
                if constexpr (Cast == ballot::value) votes = avx2::add(votes, x);
                if constexpr (Cast == ballot::sign) {
                    votes = avx2::add(votes, avx2::keep_where(avx2::is_below(zero, x), one));
                    votes = avx2::subtract(votes, avx2::keep_where(avx2::is_below(x, zero), one));
                }
                avx2::store(x, kept + k * step);
            }
            const sums is_positive = avx2::is_at_least(votes, zero);
            for (std::size_t k = 0; k < last; ++k) {
                sums x, share, share_of_zero;
                avx2::load(kept + k * step, x);
                avx2::fill(share, of[k].share);
                if constexpr (elects) {
                    const sums counts = avx2::choose(is_positive, avx2::is_below(zero, x), avx2::is_below(x, zero));
                    x = avx2::keep_where(counts, x);
                    share = avx2::keep_where(counts, share);
                } else if constexpr (Divides) {
                    avx2::fill(share_of_zero, of[k].share_of_zero);
                    share = avx2::choose(avx2::is_zero(x), share_of_zero, share);
                }
                sum = avx2::add(sum, x);
                if constexpr (Divides) shares = avx2::add(shares, share);
            }
            if constexpr (Divides) {
                const sums is_small = avx2::is_below(avx2::magnitude(shares), smallest);
                sum = avx2::divide(sum, avx2::choose(is_small, one, shares));
            }
            sum = avx2::multiply(sum, lambda);
            if constexpr (HasBase) sum = avx2::add(sum, from);
            if (!avx2::store(sum, out + i * sizeof(Out), Out{})) break;
        }
        return i;
    }
#endif

    std::vector<ranged_model<F>> models_;
    std::vector<F> kept_; // a step of each model
    bool divides_;
    F smallest_;
    F lambda_;
};

} // namespace plait::detail
