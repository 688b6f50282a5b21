#pragma once

#include <plait/core/convert.hpp>
#include <plait/core/instruction_set.hpp>
#include <plait/core/scratch.hpp>
#include <plait/merge/check_options.hpp>
#include <plait/merge/element_chance.hpp>
#include <plait/merge/magnitude_cut.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/ranged_sum.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// The state of a sparsifier for one tensor: apply() writes elements [at, at + out.size()) of a model's block, 0 where
/// they are dropped. It may observe the tensor first, as an observing_run does.
template <class R>
concept sparsifier_run = requires(const R& run, block<float> f, block<double> d, std::span<double> out) {
    run.apply(f, std::size_t{}, std::size_t{}, out);
    run.apply(d, std::size_t{}, std::size_t{}, out);
};

/// Building block of composition: which elements of each model count. `density` is the share that is kept. One that
/// has to see all tensors first has survey(models), as methods have.
template <class S>
concept sparsifier = std::copy_constructible<S> && requires(const S& s) {
    { s.density } -> std::convertible_to<double>;
} && ((!surveying_method<S> && requires(const S& s, const tensor_context& context) {
    { s.start(context) } -> sparsifier_run;
}) || (surveying_method<S> && requires(const S& s, const tensor_context& context, const model_context& models) {
    { s.start(context, s.survey(models)) } -> sparsifier_run;
}));

namespace detail {

/// floor(density n), and one where that is none: a small tensor is not dropped whole.
inline std::size_t kept_of(double density, std::size_t n) {
    const auto kept = static_cast<std::size_t>(density * static_cast<double>(n));
    return kept == 0 && density > 0 ? std::min<std::size_t>(1, n) : kept;
}

/// Keeps what is above one cut and, where there is a second, not above that.
class cuts_run {
public:
    struct partial_type {
        std::vector<magnitude_cut::partial> cuts;
        partial_type& operator+=(partial_type&& later) {
            for (std::size_t c = 0; c < cuts.size(); ++c) cuts[c] += std::move(later.cuts[c]);
            return *this;
        }
    };

    /// `above` is 0 without a second cut.
    cuts_run(const model_context& of, std::size_t kept, std::size_t above) : has_band_(above > 0) {
        for (std::size_t k = 0; k < of.models; ++k) {
            cuts_.emplace_back(kept + above, of.elements, of.is_wide);
            if (has_band_) cuts_.emplace_back(above, of.elements, of.is_wide);
        }
    }
    cuts_run(const tensor_context& of, std::size_t kept, std::size_t above)
        : cuts_run(model_context{of.models, of.shape.size(), of.is_wide}, kept, above) {}

    bool is_settled() const { return std::ranges::all_of(cuts_, &magnitude_cut::is_settled); }
    partial_type partial() const {
        partial_type p;
        for (const magnitude_cut& cut : cuts_) p.cuts.push_back(cut.empty());
        return p;
    }
    std::size_t wanted(std::size_t first) const {
        std::size_t most = 0;
        for (const magnitude_cut& cut : cuts_) most = std::max(most, cut.wanted(first));
        return most;
    }
    template <std::floating_point F>
    void observe(const block<F>& b, partial_type& p) const {
        for (std::size_t c = 0; c < cuts_.size(); ++c)
            if (!cuts_[c].is_settled()) cuts_[c].observe(b, has_band_ ? c / 2 : c, p.cuts[c]);
    }
    bool observe_raw(const raw_block& b, partial_type& p) const {
        const auto sees_raw = [](const magnitude_cut& cut) { return cut.is_settled() || cut.sees_raw(); };
        if (!std::ranges::all_of(cuts_, sees_raw)) return false;
        const std::size_t cuts = has_band_ ? 2 : 1; // of a model
        for (std::size_t c = 0; c < cuts_.size(); c += cuts) {
            if (has_band_ && !cuts_[c].is_settled() && cuts_[c].is_in_step_with(cuts_[c + 1])) {
                magnitude_cut::observe_raw<2>({&cuts_[c], &cuts_[c + 1]}, b, c / 2, {&p.cuts[c], &p.cuts[c + 1]});
                continue;
            }
            for (std::size_t own = c; own < c + cuts; ++own)
                if (!cuts_[own].is_settled()) magnitude_cut::observe_raw<1>({&cuts_[own]}, b, c / cuts, {&p.cuts[own]});
        }
        return true;
    }
    void settle(const partial_type& whole) {
        for (std::size_t c = 0; c < cuts_.size(); ++c)
            if (!cuts_[c].is_settled()) cuts_[c].settle(whole.cuts[c]);
    }

    template <std::floating_point F>
    void apply(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
        cuts_[has_band_ ? 2 * model : model].keep(b, model, at, out);
        if (has_band_) cuts_[2 * model + 1].drop(b, model, at, out);
    }

    /// Which magnitudes are kept among `count` elements from `first` on, of whole blocks, where it is no more than
    /// that.
    template <std::floating_point F>
    std::optional<magnitude_range<F>> range(std::size_t first, std::size_t count, std::size_t model) const {
        const auto lowest = cuts_[has_band_ ? 2 * model : model].lowest_in<F>(first, count);
        const auto highest = has_band_ ? cuts_[2 * model + 1].lowest_in<F>(first, count) : lowest;
        if (!lowest || !highest) return std::nullopt;
        return magnitude_range<F>{*lowest, *highest, has_band_};
    }

private:
    std::vector<magnitude_cut> cuts_;
    bool has_band_;
};

} // namespace detail

/// Keeps everything.
struct keep_all {
    static constexpr double density = 1;

    struct run {
        template <std::floating_point F>
        void apply(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) out[e] = static_cast<double>(b.values[model][at + e]);
        }
    };
    run start(const tensor_context&) const { return {}; }
};

/// Keeps floor(density n) elements of each tensor, but at least one: those of the largest magnitude, of equal ones the
/// first.   Source: Yadav et al. 2023.
struct top_k_by_magnitude {
    double density = 1;

    detail::cuts_run start(const tensor_context& context) const {
        detail::check_share("the density of top_k_by_magnitude", density);
        return {context, detail::kept_of(density, context.shape.size()), 0};
    }
};

/// top_k_by_magnitude over all merged tensors together: a tensor that changed more keeps more.
/// Source: Yadav et al. 2023.
struct top_k_over_model {
    double density = 1;

    struct run {
        const detail::cuts_run& all;
        std::size_t offset;
        template <std::floating_point F>
        void apply(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
            all.apply(block<F>{b.first + offset, b.values, b.base}, model, at, out);
        }
        template <std::floating_point F>
        auto range(std::size_t first, std::size_t count, std::size_t model) const {
            return all.range<F>(first + offset, count, model);
        }
    };

    detail::cuts_run survey(const model_context& models) const {
        detail::check_share("the density of top_k_over_model", density);
        return {models, detail::kept_of(density, models.elements), 0};
    }
    run start(const tensor_context& context, const detail::cuts_run& all) const { return {all, context.offset}; }
};

/// Drops the floor(gamma n) largest magnitudes of each tensor and keeps the floor(density n) after them. Where that is
/// more than there are, fewer are dropped.   Source: Davari and Belilovsky 2024.
struct magnitude_band {
    double density = 1;
    double gamma = 0;

    detail::cuts_run start(const tensor_context& context) const {
        detail::check_share("the density of magnitude_band", density);
        detail::check_share("the gamma of magnitude_band", gamma);
        const std::size_t n = context.shape.size();
        const std::size_t kept = detail::kept_of(density, n);
        const auto above = static_cast<std::size_t>(gamma * static_cast<double>(n));
        if (context.as_mergekit && density < 1 && above == 0) return {context, 0, 0};
        return {context, kept, density < 1 ? std::min(above, n - kept) : 0};
    }
};

/// Keeps elements whose magnitude is more than `epsilon`.
struct above_epsilon {
    double epsilon = 1e-5;
    static constexpr double density = 1; // what is dropped was to be nothing

    struct run {
        double epsilon;
        template <std::floating_point F>
        void apply(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
            for (std::size_t e = 0; e < out.size(); ++e) {
                const auto x = static_cast<double>(b.values[model][at + e]);
                out[e] = std::fabs(x) > epsilon ? x : 0;
            }
        }
    };
    run start(const tensor_context&) const {
        detail::check_not_negative("epsilon of above_epsilon", epsilon);
        return {epsilon};
    }
};

/// Keeps each element with probability `density`. Which ones depends on the seed, the position of the model, the name
/// of the tensor and the position of the element, and on nothing else.   Source: Yu et al. 2024.
struct bernoulli {
    double density = 1;
    std::uint64_t seed = 0;
    mask_function keep_mask = {};

    class run {
    public:
        run(const bernoulli& b, const tensor_context& context)
            : density_(b.density), chance_(b.seed, b.keep_mask, context) {}

        template <std::floating_point F>
        void apply(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
            const std::size_t n = out.size();
            double* const x = out.data();
            detail::widen<F>(reinterpret_cast<const std::byte*>(b.values[model].data() + at), n, x);
            if (density_ <= 0) std::ranges::fill(out, 0.0);
            if (density_ <= 0 || density_ >= 1) return;
            detail::scratch memory;
            auto* const draw = memory.of<std::int32_t>(n);
            chance_.draw(model, b.first + at, {draw, n});
            const std::int32_t limit = detail::element_chance::limit(density_);
            detail::with_widest_vectors([=]() PLAIT_ALWAYS_INLINE {
                for (std::size_t e = 0; e < n; ++e) x[e] = draw[e] < limit ? x[e] : 0;
            });
        }

    private:
        double density_;
        detail::element_chance chance_;
    };

    run start(const tensor_context& context) const {
        detail::check_share("the density of bernoulli", density);
        return {*this, context};
    }
};

} // namespace plait
