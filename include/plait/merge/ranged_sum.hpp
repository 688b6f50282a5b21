#pragma once

#include <plait/core/convert.hpp>
#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>
#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

namespace plait::detail {

/// Keeps a magnitude m where !(m < lowest), so NaN too, and, where there is a band, m < highest.
template <std::floating_point F>
struct magnitude_range {
    F lowest;
    F highest;
    bool is_band;
};

/// What is added up of a model's elements in its range.
template <std::floating_point F>
struct ranged_model {
    magnitude_range<F> range;
    F factor;        ///< of its elements
    F share;         ///< of the divisor, of each element that counts
    F share_of_zero; ///< of each that is 0, where no sign is elected
};

/// The election and the sum of composition in one loop, without rows in between: `Elector` votes with packs.
template <class Elector, std::floating_point F>
class ranged_sum {
public:
    /// `divides`: by the sum of the shares, where that is not below `smallest`.
    ranged_sum(bool divides, double smallest, double lambda)
        : divides_(divides), smallest_(static_cast<F>(smallest)), lambda_(static_cast<F>(lambda)) {}

    /// Models and spans are as many; all spans are as long as `out`.
    void combine(std::span<const ranged_model<F>> models, std::span<const std::span<const F>> values,
                 std::span<double> out) const {
        constexpr std::size_t tile = 512;
        std::array<F, tile> sums;
        for (std::size_t first = 0; first < out.size(); first += tile) {
            const std::size_t n = std::min(tile, out.size() - first);
            add_up(models, values, first, n, sums.data());
            widen<F>(reinterpret_cast<const std::byte*>(sums.data()), n, out.data() + first);
        }
    }

private:
    using mask = pack<lane_mask<F>>;

    // n elements from `first` on; the last pack may reach beyond them, and is filled up with zeros.
    void add_up(std::span<const ranged_model<F>> models, std::span<const std::span<const F>> values, std::size_t first,
                std::size_t n, F* sums) const {
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            for (std::size_t e = 0; e < n; e += lanes<F>) {
                const std::size_t here = std::min(lanes<F>, n - e);
                pack<F> votes{}, sum{}, shares{}, x;
                for (std::size_t k = 0; k < models.size(); ++k) {
                    load_kept(models[k], values[k].data() + first + e, here, x);
                    Elector::vote(x, votes);
                }
                const mask is_positive = votes >= F{0};
                for (std::size_t k = 0; k < models.size(); ++k) {
                    load_kept(models[k], values[k].data() + first + e, here, x);
                    pack<F> share;
                    fill(share, models[k].share);
                    if constexpr (Elector::elects) {
                        const mask counts = is_positive ? x > F{0} : x < F{0};
                        keep_where(counts, x);
                        keep_where(counts, share);
                    } else {
                        pack<F> share_of_zero;
                        fill(share_of_zero, models[k].share_of_zero);
                        share = x == F{0} ? share_of_zero : share;
                    }
                    sum += x;
                    shares += share;
                }
                if (divides_) {
                    pack<F> one;
                    fill(one, F{1});
                    const mask is_large = (shares >= smallest_) | (shares <= -smallest_);
                    sum /= is_large ? shares : one;
                }
                sum *= lambda_;
                std::memcpy(sums + e, &sum, here * sizeof(F));
            }
        });
    }

    PLAIT_ALWAYS_INLINE static void load_kept(const ranged_model<F>& model, const F* from, std::size_t count,
                                              pack<F>& x) {
        if (count == lanes<F>) {
            load(x, from);
        } else {
            x = pack<F>{};
            std::memcpy(&x, from, count * sizeof(F));
        }
        const F lowest = model.range.lowest;
        mask is_kept = ~((x < lowest) & (x > -lowest));
        if (model.range.is_band) {
            const F highest = model.range.highest;
            is_kept &= (x < highest) & (x > -highest);
        }
        keep_where(is_kept, x);
        x *= model.factor;
    }

    bool divides_;
    F smallest_;
    F lambda_;
};

} // namespace plait::detail
