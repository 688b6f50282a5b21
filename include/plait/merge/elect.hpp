#pragma once

#include <plait/core/instruction_set.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

namespace plait {

/// Building block of composition: the sign that counts per element, of the models' weighted elements. sign() is given
/// one row per model and writes +1, -1 or, where all count, 0.
template <class E>
concept elector = std::copy_constructible<E> && std::default_initializable<E> && requires(
    std::span<const std::span<double>> rows, std::span<double> out) {
    E::sign(rows, out);
};

/// What an elector adds up of each element to elect the sign of the sum, + where that is 0: its value, or 1 or -1.
/// Electors of which that is all may say so: static constexpr ballot cast.
enum class ballot { none, value, sign };

/// All elements count.
struct no_election {
    static constexpr ballot cast = ballot::none;
    static void sign(std::span<const std::span<double>>, std::span<double> out) { std::ranges::fill(out, 0.0); }
};

/// The sign of the sum; + where it is 0.   Source: Yadav et al. 2023.
struct elect_by_sum {
    static constexpr ballot cast = ballot::value;
    static void sign(std::span<const std::span<double>> rows, std::span<double> out) {
        detail::with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            std::ranges::fill(out, 0.0);
            for (const auto row : rows)
                for (std::size_t e = 0; e < out.size(); ++e) out[e] += row[e];
            for (double& s : out) s = s >= 0 ? 1 : -1;
        });
    }
};

/// The sign that more models have; + where they are as many.
struct elect_by_count {
    static constexpr ballot cast = ballot::sign;
    static void sign(std::span<const std::span<double>> rows, std::span<double> out) {
        detail::with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            std::ranges::fill(out, 0.0);
            for (const auto row : rows)
                for (std::size_t e = 0; e < out.size(); ++e) {
                    out[e] += row[e] > 0 ? 1 : 0;
                    out[e] -= row[e] < 0 ? 1 : 0;
                }
            for (double& s : out) s = s >= 0 ? 1 : -1;
        });
    }
};

} // namespace plait
