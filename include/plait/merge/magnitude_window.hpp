#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

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

    /// Appends the keys of the window; returns how many are above it.
    template <std::floating_point F>
    std::uint64_t collect(const magnitude_key& key, std::span<const F> values,
                          std::vector<std::uint64_t>& within) const {
        const bool has_end = high != none;
        const F from = key.lowest<F>(low);
        const F to = has_end ? key.lowest<F>(key.next(high)) : F{0};
        std::uint64_t above = 0;
        // Writes all, and forgets those that are not within: no branches to be mispredicted.
        const auto look_at = [&](std::size_t begin, std::size_t end) {
            std::array<std::uint64_t, group> keys;
            std::size_t found = 0;
            for (std::size_t e = begin; e < end; ++e) {
                const F m = std::fabs(values[e]);
                const bool is_above = has_end & !(m < to);
                above += is_above;
                keys[found] = key(static_cast<double>(m));
                found += !is_above & !(m < from);
            }
            within.insert(within.end(), keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(found));
        };
        std::size_t e = 0;
        if (has_end)
            for (; e + tile <= values.size(); e += tile) {
                const auto is_hit = find_groups(values.subspan(e).template first<tile>(), from, to, above);
                for (std::size_t g = 0; g < is_hit.size(); ++g)
                    if (is_hit[g]) look_at(e + g * group, e + (g + 1) * group);
            }
        for (; e < values.size(); e += group) look_at(e, std::min(e + group, values.size()));
        return above;
    }

private:
    static constexpr std::size_t tile = 256;
    static constexpr std::size_t group = 16;

    // Which groups have an element in the window; counts those above it in the others.
    template <std::floating_point F>
    static std::array<bool, tile / group> find_groups(std::span<const F, tile> values, F low_bound, F high_bound,
                                                      std::uint64_t& above) {
        std::array<bool, tile / group> is_hit{};
        pack<lane_mask<F>> more{};
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            const F from = low_bound, to = high_bound; // registers, whatever is written to
            const F* x = values.data();
            pack<lane_mask<F>> without_sign, counted{};
            fill(without_sign, std::numeric_limits<lane_mask<F>>::max());
            for (std::size_t g = 0; g < is_hit.size(); ++g) {
                pack<lane_mask<F>> hits{}, seen{};
                for (std::size_t e = g * group; e < (g + 1) * group; e += lanes<F>) {
                    pack<F> m;
                    load(m, x + e);
                    keep_where(without_sign, m);
                    const auto is_above = ~(m < to);
                    seen += is_above;
                    hits |= ~(m < from) & ~is_above;
                }
                is_hit[g] = any(hits);
                if (!is_hit[g]) counted -= seen;
            }
            more = counted;
        });
        for (std::size_t lane = 0; lane < lanes<F>; ++lane) above += static_cast<std::uint64_t>(more[lane]);
        return is_hit;
    }
};

} // namespace plait::detail
