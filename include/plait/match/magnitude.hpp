#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

namespace plait::detail {

/// The largest magnitude seen: NaN if there was one, infinite if a pair is forbidden.
template <std::floating_point T>
class magnitude {
public:
    using bits = lane_mask<T>; // magnitudes compare as their bits do, and NaN is larger than all of them

    void add(T x) { rest_ = std::max<bits>(rest_, std::bit_cast<bits>(x) & no_sign); }

    [[gnu::always_inline]] void add_pack(const T* from) {
        pack<bits> unused = {};
        add_pack(from, unused);
    }

    /// Sets bits in `nonzero` where an element is not zero.
    [[gnu::always_inline]] void add_pack(const T* from, pack<bits>& nonzero) {
        pack<bits> x;
        std::memcpy(&x, from, sizeof(x));
        x &= no_sign;
        lanes_ = x > lanes_ ? x : lanes_;
        nonzero |= x;
    }

    T largest() const {
        bits found = rest_;
        for (std::size_t k = 0; k < lanes<T>; ++k) found = std::max(found, static_cast<bits>(lanes_[k]));
        return std::bit_cast<T>(found);
    }

private:
    static constexpr bits no_sign = std::numeric_limits<bits>::max();
    pack<bits> lanes_ = {};
    bits rest_ = 0;
};

/// Of a row.
template <std::floating_point T>
T largest_magnitude(std::span<const T> row) {
    magnitude<T> parts[4]; // chains that do not wait for each other
    with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
        constexpr std::size_t step = 4 * lanes<T>;
        std::size_t j = 0;
        for (; j + step <= row.size(); j += step)
            for (std::size_t k = 0; k < 4; ++k) parts[k].add_pack(row.data() + j + k * lanes<T>);
        for (; j < row.size(); ++j) parts[0].add(row[j]);
    });
    for (std::size_t k = 1; k < 4; ++k) parts[0].add(parts[k].largest());
    return parts[0].largest();
}

} // namespace plait::detail
