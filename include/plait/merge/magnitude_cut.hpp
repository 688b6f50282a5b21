#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/random.hpp>
#include <plait/core/simd.hpp>
#include <plait/merge/kept_keys.hpp>
#include <plait/merge/magnitude_digits.hpp>
#include <plait/merge/magnitude_window.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/nth_largest.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait::detail {

/// Selects exactly the `count` largest magnitudes of one model's tensor; of equal ones the first. NaN is largest of
/// all.
///
/// A sample of blocks tells a window of magnitudes around the cut; one pass counts what is above it and keeps what is
/// within. Where the cut is elsewhere after all, or of_rank() is asked, radix selection from the top finds it: one pass
/// per digit, one more for the place among equals. Complexity: O(n) per pass, memory for 65536 counts or n / 50 keys.
class magnitude_cut {
public:
    /// What one pass has seen.
    struct partial {
        kept_keys<std::uint32_t> narrow_keys = {};      // of the window or the sample
        kept_keys<std::uint64_t> wide_keys = {};        // those of doubles
        std::vector<std::uint64_t> digits = {};         // how often each occurs
        std::map<std::size_t, std::size_t> equals = {}; // first element of a block -> how many
        std::uint64_t above = 0;                        // the window

        partial& operator+=(partial&& later) {
            narrow_keys += std::move(later.narrow_keys);
            wide_keys += std::move(later.wide_keys);
            for (std::size_t d = 0; d < digits.size(); ++d) digits[d] += later.digits[d];
            equals.merge(later.equals);
            above += later.above;
            return *this;
        }
    };

    magnitude_cut(std::size_t count, std::size_t size, bool is_wide)
        : key_{is_wide}, needed_(count), size_(size), digits_left_(key_.digits()) {
        if (count == 0)
            key_of_last_ = none, phase_ = phase::settled; // above every magnitude
        else if (count >= size)
            keeps_equals_ = true, phase_ = phase::settled; // key 0: everything
        else if (size >= many)
            phase_ = phase::sample;
        else
            phase_ = size <= few ? phase::window : phase::digits;
    }

    /// Only to find the rank-th largest magnitude, of at least one.
    static magnitude_cut of_rank(std::size_t rank, bool is_wide) {
        magnitude_cut cut(rank, rank + 1, is_wide);
        cut.phase_ = phase::digits; // its size is not that of the tensor
        return cut;
    }

    bool is_settled() const { return phase_ == phase::settled; }
    bool has_smallest() const { return phase_ == phase::settled || phase_ == phase::place; }
    /// The smallest magnitude that is kept.
    double smallest() const { return key_.magnitude(key_of_last_); }

    partial empty() const { return {.digits = std::vector<std::uint64_t>(phase_ == phase::digits ? radix : 0)}; }

    /// How many elements of the block that begins with element `first` the next pass has to see.
    std::size_t wanted(std::size_t first) const {
        if (phase_ != phase::sample) return is_settled() ? 0 : all_elements;
        // A few each of many blocks: neighbours may be alike.
        const std::size_t share = std::max<std::size_t>(1, size_ / largest_sampled);
        return counter_random(first).below(share) == 0 ? piece : 0;
    }

    template <std::floating_point F>
    void observe(const block<F>& b, std::size_t model, partial& p) const {
        if (sees_raw()) {
            const auto* values = reinterpret_cast<const std::byte*>(b.values[model].data());
            collect<F, F, 1>({this}, b.first, values, nullptr, b.size(), {&p});
        } else if (phase_ == phase::digits) {
            const unsigned found = key_.digits() - digits_left_;
            if (key_.is_wide)
                count_digits<std::uint64_t>(b.values[model], found, key_of_last_, p.digits);
            else
                count_digits<std::uint32_t>(b.values[model], found, key_of_last_ >> 32, p.digits);
        } else if (const std::size_t n = equals_in(b, model, b.size()); n > 0) {
            p.equals[b.first] = n;
        }
    }

    /// Whether the next pass can be made over elements as they lie in memory.
    bool sees_raw() const { return phase_ == phase::sample || phase_ == phase::window; }

    /// Whether the next passes of two cuts of a tensor are of one kind.
    bool is_in_step_with(const magnitude_cut& other) const { return phase_ == other.phase_; }

    /// What N cuts of one model's tensor observe in one pass over it, in step with each other.
    template <std::size_t N>
    static void observe_raw(const std::array<const magnitude_cut*, N>& cuts, const raw_block& b, std::size_t model,
                            const std::array<partial*, N>& parts) {
        visit_floating(b.type, [&]<class T>(T) {
            // as the engine widens them
            using wide = std::conditional_t<sizeof(T) <= 2, float, double>;
            if (b.base)
                collect<wide, T>(cuts, b.first, b.models[model], b.base, b.count, parts);
            else if constexpr (sizeof(T) <= 4)
                collect<float, T>(cuts, b.first, b.models[model], nullptr, b.count, parts);
        });
    }

    void settle(const partial& whole) {
        switch (phase_) {
        case phase::sample:
            return key_.is_wide ? set_window(whole.wide_keys) : set_window(whole.narrow_keys);
        case phase::window:
            return key_.is_wide ? select(whole.wide_keys, whole.above) : select(whole.narrow_keys, whole.above);
        case phase::digits:
            return select_digit(whole);
        default:
            return place(whole.equals);
        }
    }

    /// The lowest magnitude that is selected among `count` elements from `first` on, of whole blocks; NaN is selected
    /// too. Empty where that is not all: in the one block where equals run out, where nothing is selected, or where NaN
    /// is not.
    template <std::floating_point F>
    std::optional<F> lowest_in(std::size_t first, std::size_t count) const {
        const bool runs_out_here = !keeps_equals_ && first <= block_of_last_ && block_of_last_ < first + count;
        if (key_of_last_ == none || runs_out_here || !std::isfinite(smallest())) return std::nullopt;
        const bool takes_equals = keeps_equals_ || first < block_of_last_;
        return key_.lowest<F>(takes_equals ? key_of_last_ : key_.next(key_of_last_));
    }

    /// Writes elements [at, at + out.size()) of a block, 0 for those that are not selected.
    template <std::floating_point F>
    void keep(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
        write<true>(b, model, at, out);
    }

    /// Writes 0 for elements [at, at + out.size()) of a block that are selected.
    template <std::floating_point F>
    void drop(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
        write<false>(b, model, at, out);
    }

    /// kept(e, is_selected) for elements [at, at + n) of a block. How many equals come before `at` is only counted in
    /// the one block where they run out.
    template <std::floating_point F, class Kept>
    void for_each(const block<F>& b, std::size_t model, std::size_t at, std::size_t n, const Kept& kept) const {
        std::size_t equals_left = 0;
        if (keeps_equals_ || b.first < block_of_last_)
            equals_left = n;
        else if (b.first == block_of_last_)
            equals_left = needed_ - std::min(needed_, equals_in(b, model, at));
        for (std::size_t e = 0; e < n; ++e) {
            const std::uint64_t key = key_(static_cast<double>(b.values[model][at + e]));
            const bool is_equal = key == key_of_last_;
            kept(e, key > key_of_last_ || (is_equal && equals_left > 0));
            if (is_equal && equals_left > 0) --equals_left;
        }
    }

private:
    static constexpr std::size_t radix = std::size_t{1} << digit_bits;
    static constexpr std::uint64_t none = magnitude_window::none; // key_of_last_ where nothing is kept

    static constexpr std::size_t few = 16384;    // all keys are no more than counts of digits
    static constexpr std::size_t many = 1 << 19; // worth a sample
    static constexpr std::size_t piece = 64;     // of a block, in a sample
    static constexpr std::size_t largest_sampled = 1 << 26;

    enum class phase { sample, window, digits, place, settled };

    template <std::floating_point F, class T, std::size_t N>
    static void collect(const std::array<const magnitude_cut*, N>& cuts, std::size_t first, const std::byte* values,
                        const std::byte* base, std::size_t size, const std::array<partial*, N>& parts) {
        std::array<magnitude_window, N> windows;
        for (std::size_t c = 0; c < N; ++c) windows[c] = cuts[c]->window_;
        const auto into = [&]<class Key>(kept_keys<Key> partial::*kept) {
            std::array<std::uint64_t, N> above{};
            window_search<N, Key>(cuts[0]->key_, windows)
                .template collect<F, T>(
                    values, base, std::min(cuts[0]->wanted(first), size), above,
                    [&](std::size_t c, std::span<const Key> keys) { (parts[c]->*kept).append(first, keys); });
            for (std::size_t c = 0; c < N; ++c) parts[c]->above += above[c];
        };
        if (cuts[0]->key_.is_wide)
            into(&partial::wide_keys);
        else
            into(&partial::narrow_keys);
    }

    template <class Key>
    static std::uint64_t nth_of(const std::vector<Key>& keys, std::size_t rank) {
        return std::uint64_t{nth_largest(std::span(keys), rank)} << (64 - 8 * sizeof(Key));
    }

    // Of the sample's order, from a few deviations above the cut's expected place to as many below.
    template <class Key>
    void set_window(const kept_keys<Key>& sample) {
        const std::vector<Key> keys = sample.all();
        const auto seen = static_cast<double>(keys.size());
        const double share = static_cast<double>(needed_) / static_cast<double>(size_);
        const double margin = 6 * std::sqrt(seen * share * (1 - share)) + 8;
        const double first = share * seen - margin, last = share * seen + margin;
        if (first >= 0) window_.high = nth_of(keys, static_cast<std::size_t>(first));
        if (last < seen) window_.low = nth_of(keys, static_cast<std::size_t>(last));
        window_.is_rare = share < 1.0 / 32;
        // NaN has an order among keys, but none among numbers.
        const auto is_number = [&](std::uint64_t key) {
            return key == magnitude_window::none || !std::isnan(key_.magnitude(key));
        };
        phase_ = is_number(window_.high) && is_number(window_.low) ? phase::window : phase::digits;
    }

    void select_digit(const partial& whole) {
        std::size_t digit = radix;
        std::uint64_t at_digit = 0;
        while (digit-- > 0) {
            at_digit = whole.digits[digit];
            if (at_digit >= needed_) break;
            needed_ -= at_digit;
        }
        key_of_last_ |= std::uint64_t{digit} << shift_of_next();
        if (--digits_left_ > 0) return;
        keeps_equals_ = at_digit == needed_;
        phase_ = keeps_equals_ ? phase::settled : phase::place;
    }

    template <bool Keeps, std::floating_point F>
    void write(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
        const F* x = b.values[model].data() + at;
        const auto write_one = [&](std::size_t e, bool is_selected) {
            if constexpr (Keeps)
                out[e] = is_selected ? static_cast<double>(x[e]) : 0;
            else if (is_selected)
                out[e] = 0;
        };
        const auto lowest = lowest_in<F>(b.first, b.size());
        if (!lowest) return for_each(b, model, at, out.size(), write_one);
        std::size_t e = 0;
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            pack<double> bound;
            fill(bound, static_cast<double>(*lowest));
            for (; e + lanes<double> <= out.size(); e += lanes<double>) {
                pack<double> from, to;
                load_doubles(from, x + e);
                const auto is_dropped = (from < bound) & (from > -bound);
                if constexpr (Keeps) {
                    to = from;
                    keep_where(~is_dropped, to);
                } else {
                    load(to, &out[e]);
                    keep_where(is_dropped, to);
                }
                store(&out[e], to);
            }
        });
        for (; e < out.size(); ++e) write_one(e, !(std::fabs(static_cast<double>(x[e])) < *lowest));
    }

    // Finds the block in which the equals run out.
    void place(const std::map<std::size_t, std::size_t>& equals_of_blocks) {
        for (const auto& [first, equals] : equals_of_blocks) {
            block_of_last_ = first;
            if (equals >= needed_) break;
            needed_ -= equals;
        }
        phase_ = phase::settled;
    }

    template <class Key>
    void select(const kept_keys<Key>& within, std::uint64_t above) {
        const std::vector<Key> keys = within.all();
        if (needed_ <= above || needed_ > above + keys.size()) {
            phase_ = phase::digits; // the cut is not in the window
            return;
        }
        needed_ -= above;
        key_of_last_ = nth_of(keys, needed_ - 1);
        const auto last = static_cast<Key>(key_of_last_ >> (64 - 8 * sizeof(Key)));
        needed_ -= static_cast<std::uint64_t>(std::ranges::count_if(keys, [&](Key key) { return key > last; }));
        place(within.count(last));
    }

    unsigned shift_of_next() const { return 64 - 16 * (key_.digits() - digits_left_ + 1); }
    template <std::floating_point F>
    std::size_t equals_in(const block<F>& b, std::size_t model, std::size_t n) const {
        const auto begin = b.values[model].begin();
        return static_cast<std::size_t>(std::count_if(begin, begin + static_cast<std::ptrdiff_t>(n), [&](F x) {
            return key_(static_cast<double>(x)) == key_of_last_;
        }));
    }

    magnitude_key key_;
    std::uint64_t key_of_last_ = 0; // the smallest that is kept, or its digits found so far
    std::uint64_t needed_;          // how many are still to be found; at last, equals in the last block
    magnitude_window window_;
    std::size_t size_;
    std::size_t block_of_last_ = 0;
    unsigned digits_left_;
    phase phase_ = phase::settled;
    bool keeps_equals_ = false; // all of them
};

} // namespace plait::detail
