#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace plait {

/// Building block of composition: one value per element of those whose sign counts. A zero has no sign.
template <class C>
concept combiner = std::copy_constructible<C> && requires(const C& c, std::span<const std::span<double>> rows,
                                                          std::span<const double> weights, std::span<const double> sign,
                                                          std::span<double> out) {
    c.combine(rows, weights, sign, out);
};

enum class divisor { one, weights, count };

inline constexpr double smallest_divisor = 1e-12;

/// The sum of the weighted elements, divided by nothing, by the sum of their weights, or by how many they are. Where
/// that is 0 the sum is not divided.
struct sum_of {
    divisor divide_by = divisor::one;

    /// Of the divisor, of an element that counts.
    double share(double weight) const { return divide_by == divisor::count ? 1 : weight; }
    /// Without an election a dropped element divides by its weight all the same, but is not counted.
    double share_of_zero(double weight) const { return divide_by == divisor::weights ? weight : 0; }

    void combine(std::span<const std::span<double>> rows, std::span<const double> weights, std::span<const double> sign,
                 std::span<double> out) const {
        std::vector<double> parts(out.size());
        std::ranges::fill(out, 0.0);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            add(rows[k], sign, share(weights[k]), share_of_zero(weights[k]), out, parts);
        }
        if (divide_by == divisor::one) return;
        detail::with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            for (std::size_t e = 0; e < out.size(); ++e)
                out[e] /= std::fabs(parts[e]) >= smallest_divisor ? parts[e] : 1;
        });
    }

private:
    // Adds the elements of a row that count, and their shares.
    static void add(std::span<const double> row, std::span<const double> sign, double share, double share_of_zero,
                    std::span<double> out, std::span<double> parts) {
        std::size_t e = 0;
        detail::with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            using detail::pack;
            pack<double> part, part_of_zero;
            detail::fill(part, share);
            detail::fill(part_of_zero, share_of_zero);
            for (; e + detail::lanes<double> <= row.size(); e += detail::lanes<double>) {
                pack<double> x, s, sum, shares;
                detail::load(x, &row[e]);
                detail::load(s, &sign[e]);
                detail::load(sum, &out[e]);
                detail::load(shares, &parts[e]);
                const auto is_open = s == 0;
                const auto counts = is_open | (x * s > 0);
                pack<double> own = (is_open & (x == 0)) ? part_of_zero : part;
                detail::keep_where(counts, x);
                detail::keep_where(counts, own);
                detail::store(&out[e], sum + x);
                detail::store(&parts[e], shares + own);
            }
        });
        for (; e < row.size(); ++e) {
            const bool is_open = sign[e] == 0;
            if (!is_open && !(row[e] * sign[e] > 0)) continue;
            out[e] += row[e];
            parts[e] += is_open && row[e] == 0 ? share_of_zero : share;
        }
    }
};

/// The weighted element of the largest magnitude, of equal ones the last.   Source: Marczak et al. 2024.
struct largest_of {
    void combine(std::span<const std::span<double>> rows, std::span<const double>, std::span<const double> sign,
                 std::span<double> out) const {
        std::ranges::fill(out, 0.0);
        for (const auto row : rows)
            for (std::size_t e = 0; e < out.size(); ++e)
                if ((sign[e] == 0 || row[e] * sign[e] > 0) && std::fabs(row[e]) >= std::fabs(out[e])) out[e] = row[e];
    }
};

} // namespace plait
