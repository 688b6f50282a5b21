#pragma once

#include <plait/core/arithmetic_avx2.hpp>
#include <plait/core/convert.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace plait::detail {

/// Magnitudes in the order of 64-bit integers. Elements that come from types up to float are compared as floats, in
/// half as many passes.
struct magnitude_key {
    bool is_wide;

    std::uint64_t operator()(double x) const {
        if (is_wide) return std::bit_cast<std::uint64_t>(std::fabs(x));
        return std::uint64_t{std::bit_cast<std::uint32_t>(std::fabs(static_cast<float>(x)))} << 32;
    }
    double magnitude(std::uint64_t key) const {
        if (is_wide) return std::bit_cast<double>(key);
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)));
    }
    /// The one above.
    std::uint64_t next(std::uint64_t key) const { return key + (is_wide ? 1 : std::uint64_t{1} << 32); }

    /// The lowest magnitude of type F whose key is at least `key`; that of a NaN itself.
    template <std::floating_point F>
    F lowest(std::uint64_t key) const {
        constexpr F infinity = std::numeric_limits<F>::infinity();
        const double own = magnitude(key);
        if (key == 0 || std::isnan(own)) return static_cast<F>(own);
        double bound = own;
        if (!is_wide && std::same_as<F, double>) {
            // What is halfway to the float below rounds to the even one of the two.
            const double below = std::nextafter(static_cast<float>(own), 0.0F);
            const bool is_even = (key >> 32 & 1U) == 0;
            bound = below + ((std::isinf(own) ? 0x1p128 : own) - below) / 2;
            if (!is_even) bound = std::nextafter(bound, own);
        }
        const auto narrowed = static_cast<F>(bound); // there is no F between the two
        return narrowed < bound ? std::nextafter(narrowed, infinity) : narrowed;
    }

    unsigned digits() const { return is_wide ? 4 : 2; } ///< of 16 bits, from the top
};

/// The keys from `low` to `high`: all of them at first. NaN is above every other magnitude.
struct magnitude_window {
    static constexpr std::uint64_t none = ~std::uint64_t{0}; ///< above all keys
    std::uint64_t low = 0;
    std::uint64_t high = none;
    bool is_rare = false; ///< whether few elements are as large as this, so that looking for them first is faster
};

/// Finds the elements of windows: all of N windows in one pass. Keys are delivered as Key: all bits of wide keys, the
/// upper half of others.
template <std::size_t N, class Key>
class window_search {
public:
    window_search(const magnitude_key& key, const std::array<magnitude_window, N>& windows)
        : key_(key), windows_(windows) {}

    /// found(w, keys) for those of `count` elements that are in window w, in their order, a few at a time. Adds to
    /// above[w] how many are above it. Elements are of type T, minus those of a base (or null), in F.
    template <std::floating_point F, class T, class Found>
    void collect(const std::byte* values, const std::byte* base, std::size_t count, std::array<std::uint64_t, N>& above,
                 const Found& found) const {
        const auto bounds = find_bounds<F>();
        lists to;
        to.above = above;
        for (std::size_t first = 0; first < count; first += tile) {
            const std::size_t end = std::min(count, first + tile);
            std::size_t e = first;
            to.within = {};
#if PLAIT_HAS_AVX2_FUNCTIONS
            if constexpr (sizeof(Key) == sizeof(float) && (std::same_as<T, double> || avx2::can_convert<T>))
                if (has_avx2())
                    e = base ? collect_steps<F, T, true>(bounds, values, base, e, end, to)
                             : collect_steps<F, T, false>(bounds, values, base, e, end, to);
#endif
            for (; e < end; ++e) {
                const F m = std::fabs(element<F, T>(values, base, e));
                const auto key = static_cast<Key>(key_(static_cast<double>(m)) >> (64 - 8 * sizeof(Key)));
                for (std::size_t w = 0; w < N; ++w) {
                    const bool is_above = bounds[w].has_end && !(m < bounds[w].to);
                    to.above[w] += is_above;
                    to.keys[w][to.within[w]] = key;
                    to.within[w] += !is_above && !(m < bounds[w].from);
                }
            }
            for (std::size_t w = 0; w < N; ++w)
                if (to.within[w] > 0) found(w, std::span<const Key>(to.keys[w].data(), to.within[w]));
        }
        above = to.above;
    }

private:
    static constexpr std::size_t tile = 256;
    static constexpr std::size_t step = 8;

    template <std::floating_point F>
    struct window_bounds {
        F from, to;
        bool has_end, is_rare;
    };

    struct lists {
        std::array<std::array<Key, tile + step>, N> keys; // a step is written whole, whatever of it counts
        std::array<std::size_t, N> within;
        std::array<std::uint64_t, N> above;
    };

    template <std::floating_point F>
    std::array<window_bounds<F>, N> find_bounds() const {
        std::array<window_bounds<F>, N> all;
        for (std::size_t w = 0; w < N; ++w) {
            const magnitude_window& window = windows_[w];
            const bool has_end = window.high != magnitude_window::none;
            all[w] = {key_.lowest<F>(window.low), has_end ? key_.lowest<F>(key_.next(window.high)) : F{0}, has_end,
                      window.is_rare};
        }
        return all;
    }

    template <std::floating_point F, class T>
    static F element(const std::byte* values, const std::byte* base, std::size_t e) {
        const auto load = [e](const std::byte* from) { return static_cast<F>(load_as<T>(from + e * sizeof(T))); };
        return base ? load(values) - load(base) : load(values);
    }

#if PLAIT_HAS_AVX2_FUNCTIONS
    // Whole steps of the elements from e on; returns where the rest begins.
    template <std::floating_point F, class T, bool HasBase>
    PLAIT_AVX2_FUNCTION static std::size_t collect_steps(const std::array<window_bounds<F>, N>& of,
                                                         const std::byte* values, const std::byte* base, std::size_t e,
                                                         std::size_t end, lists& to) {
        using numbers = avx2::step_of<F>;
        numbers all;
        avx2::fill(all, 0);
        all = avx2::is_zero(all);
        std::array<numbers, N> from, until, has_end;
        std::array<std::size_t, N> within = to.within;
        std::array<avx2::tally_of<F>, N> above;
        for (std::size_t w = 0; w < N; ++w) {
            avx2::fill(from[w], of[w].from);
            avx2::fill(until[w], of[w].to);
            has_end[w] = of[w].has_end ? all : avx2::drop_where(all, all);
            above[w].clear();
        }
        for (; e + step <= end; e += step) {
            numbers x, subtrahend;
            avx2::load(values + e * sizeof(T), x, T{});
            if constexpr (HasBase) {
                avx2::load(base + e * sizeof(T), subtrahend, T{});
                x = avx2::subtract(x, subtrahend);
            }
            const numbers m = avx2::magnitude(x);
            for (std::size_t w = 0; w < N; ++w) {
                const numbers is_above = avx2::drop_where(avx2::is_below(m, until[w]), has_end[w]);
                above[w].add(is_above);
                const unsigned is_outside = avx2::bits_of(avx2::either(avx2::is_below(m, from[w]), is_above));
                const unsigned is_within = is_outside ^ 0xFFU;
                if (of[w].is_rare && is_within == 0) continue;
                avx2::store_chosen(is_within, m, to.keys[w].data() + within[w]);
                within[w] += static_cast<unsigned>(__builtin_popcount(is_within));
            }
        }
        to.within = within;
        for (std::size_t w = 0; w < N; ++w) to.above[w] += above[w].total();
        return e;
    }
#endif

    const magnitude_key& key_;
    std::array<magnitude_window, N> windows_;
};

} // namespace plait::detail
