#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>
#include <plait/match/magnitude.hpp>
#include <plait/match/matcher.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace plait::detail {

/// What one pass over a cost matrix shows. Throws value_error as check_costs does.
template <std::floating_point T>
struct cost_scan {
    std::vector<T> minima;                     ///< of each column
    std::vector<std::uint32_t> rows;           ///< the first row with its column's minimum
    std::vector<std::uint32_t> zero_rows = {}; ///< without a cost: units without weights
    std::vector<std::uint32_t> zero_columns = {};
    T largest = 0; ///< finite magnitude

    explicit cost_scan(matrix_view<const T> cost)
        : minima(cost.cols(), std::numeric_limits<T>::infinity()), rows(cost.cols()) {
        const std::size_t n = cost.rows();
        std::vector<bits> first(cost.cols()); // of the band of rows with the minimum
        std::vector<bits> nonzero(cost.cols());
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            std::size_t i = 0;
            for (; i + band <= n; i += band) scan<band>(cost, i, first.data(), nonzero.data());
            for (; i < n; ++i) scan<1>(cost, i, first.data(), nonzero.data());
        });
        for (std::size_t j = 0; j < rows.size(); ++j)
            if (nonzero[j] == 0) zero_columns.push_back(static_cast<std::uint32_t>(j));
        for (std::size_t j = 0; j < rows.size(); ++j) {
            auto row = static_cast<std::size_t>(first[j]);
            while (row + 1 < n && cost(row, j) != minima[j]) ++row;
            rows[j] = static_cast<std::uint32_t>(row);
        }
        if (!std::isfinite(largest)) largest = check_costs(cost);
    }

private:
    using bits = lane_mask<T>;
    static constexpr std::size_t band = 4;

    template <std::size_t Rows>
    PLAIT_ALWAYS_INLINE void scan(matrix_view<const T> cost, std::size_t i, bits* first, bits* nonzero) {
        const T* c[Rows];
        magnitude<T> magnitudes[Rows];
        for (std::size_t r = 0; r < Rows; ++r) c[r] = cost.row(i + r).data();
        // The next band is fetched in the order of memory: several rows at once are too much for the machine's own
        // guess.
        const bool is_long = cost.cols() * sizeof(T) >= 8192;
        const T* ahead = is_long && i + 2 * Rows <= cost.rows() ? cost.row(i + Rows).data() : nullptr;
        std::size_t j = 0;
        for (; j + lanes<T> <= cost.cols(); j += lanes<T>) {
            pack<T> least;
            pack<T> old;
            pack<bits> row_of_old;
            pack<bits> set;
            load(set, nonzero + j);
            if (ahead) prefetch_to_level_2(ahead + Rows * j, Rows * lanes<T>);
            for (std::size_t r = 0; r < Rows; ++r) {
                pack<T> x;
                load(x, c[r] + j);
                magnitudes[r].add_pack(c[r] + j, set);
                if (r == 0)
                    least = x;
                else
                    minimize<T>(least, x);
            }
            store<bits>(nonzero + j, set);
            load(old, minima.data() + j);
            load(row_of_old, first + j);
            const pack<bits> better = least < old;
            store<T>(minima.data() + j, better ? least : old);
            store<bits>(first + j, better ? static_cast<bits>(i) - pack<bits>{} : row_of_old);
        }
        for (; j < cost.cols(); ++j) {
            for (std::size_t r = 0; r < Rows; ++r) {
                magnitudes[r].add(c[r][j]);
                if (c[r][j] != 0) nonzero[j] = 1;
                if (c[r][j] < minima[j]) minima[j] = c[r][j], first[j] = static_cast<bits>(i);
            }
        }
        for (std::size_t r = 0; r < Rows; ++r) {
            const T of_row = magnitudes[r].largest();
            if (of_row == 0) zero_rows.push_back(static_cast<std::uint32_t>(i + r));
            if (std::isnan(of_row) || of_row > largest) largest = of_row; // a NaN stays
        }
    }
};

} // namespace plait::detail
