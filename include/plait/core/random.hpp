#pragma once

#include <plait/core/instruction_set.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace plait {

/// A generator whose n-th number is a function of (seed, n): the same on every machine and in any order of drawing.
/// Source: splitmix64 (Steele, Lea and Flood 2014).
class counter_random {
public:
    using result_type = std::uint64_t;
    explicit counter_random(std::uint64_t seed) : key_(mix(seed)) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

    result_type operator()() { return at(next_++); }
    result_type at(std::uint64_t n) const { return mix(key_ + n * increment); }

    /// at(first), at(first + 1) ...
    void at(std::uint64_t first, std::span<result_type> out) const {
        const std::uint64_t begin = key_ + first * increment;
        result_type* const to = out.data();
        const std::size_t count = out.size();
        detail::with_widest_vectors([=]() PLAIT_ALWAYS_INLINE {
            for (std::size_t i = 0; i < count; ++i) to[i] = mix(begin + i * increment);
        });
    }

    /// Uniform below n > 0. Source: Lemire 2019, without the rejection: the bias is below n / 2^64.
    std::size_t below(std::size_t n) {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::size_t>((static_cast<wide>((*this)()) * n) >> 64);
    }

    /// Uniform in [0, 1), 53 bits.
    double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

private:
    static constexpr std::uint64_t increment = 0x9E3779B97F4A7C15ULL;

    PLAIT_ALWAYS_INLINE static constexpr std::uint64_t mix(std::uint64_t z) {
        z += increment;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    std::uint64_t key_;
    std::uint64_t next_ = 0;
};

} // namespace plait
