#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace trainer {

/// Random numbers that are the same on every platform.
///
/// The standard fixes the bits of std::mt19937_64, but not those of std::shuffle and the
/// distributions.
class random_source {
public:
    explicit random_source(std::uint64_t seed) : engine_(seed) {}

    /// Uniform in [low, high).
    double uniform(double low, double high) {
        const double unit = static_cast<double>(engine_() >> 11U) * 0x1p-53;
        return low + (high - low) * unit;
    }

    /// Uniform in {0, ..., bound - 1}; bound is at least 1.
    std::size_t below(std::size_t bound) {
        const std::uint64_t range = bound;
        const std::uint64_t accepted = engine_.max() - engine_.max() % range;
        std::uint64_t draw = engine_();
        while (draw >= accepted) draw = engine_();
        return static_cast<std::size_t>(draw % range);
    }

    /// Fisher-Yates.
    template <class T>
    void shuffle(std::span<T> items) {
        for (std::size_t left = items.size(); left > 1; --left) {
            using std::swap;
            swap(items[left - 1], items[below(left)]);
        }
    }

private:
    std::mt19937_64 engine_;
};

} // namespace trainer
