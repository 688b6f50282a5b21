#pragma once

#include <plait/core/simd.hpp>
#include <plait/match/matcher.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace plait::detail {

/// The largest magnitude in a row. NaN if there is one; infinite if a pair is forbidden.
template <std::floating_point T>
T largest_magnitude(std::span<const T> row) {
    using bits = lane_mask<T>; // magnitudes compare as their bits do, and NaN is larger than all of them
    constexpr bits no_sign = std::numeric_limits<bits>::max();
    pack<bits> largest[4] = {}; // chains that do not wait for each other
    std::size_t j = 0;
    for (; j + 4 * lanes<T> <= row.size(); j += 4 * lanes<T>) {
        for (std::size_t k = 0; k < 4; ++k) {
            pack<bits> x;
            std::memcpy(&x, row.data() + j + k * lanes<T>, sizeof(x));
            x &= no_sign;
            largest[k] = x > largest[k] ? x : largest[k];
        }
    }
    bits found = 0;
    for (const pack<bits>& l : largest)
        for (std::size_t k = 0; k < lanes<T>; ++k) found = std::max(found, static_cast<bits>(l[k]));
    for (; j < row.size(); ++j) found = std::max<bits>(found, std::bit_cast<bits>(row[j]) & no_sign);
    return std::bit_cast<T>(found);
}

/// What one pass over a cost matrix shows. Throws value_error as check_costs does.
template <std::floating_point T>
struct cost_scan {
    std::vector<T> minima;                     ///< of each column
    std::vector<std::uint32_t> rows;           ///< the first row with its column's minimum
    std::vector<std::uint32_t> zero_rows = {}; ///< rows without a cost: units without weights
    T largest = 0;                             ///< largest finite magnitude

    explicit cost_scan(matrix_view<const T> cost)
        : minima(cost.cols(), std::numeric_limits<T>::infinity()), rows(cost.cols()) {
        const std::size_t n = cost.rows();
        std::vector<bits> first(cost.cols()); // of the band of rows with the minimum
        std::size_t i = 0;
        for (; i + band <= n; i += band) scan<band>(cost, i, first.data());
        for (; i < n; ++i) scan<1>(cost, i, first.data());
        for (std::size_t j = 0; j < rows.size(); ++j) {
            auto row = static_cast<std::size_t>(first[j]);
            while (row + 1 < n && cost(row, j) != minima[j]) ++row;
            rows[j] = static_cast<std::uint32_t>(row);
        }
        largest = std::bit_cast<T>(magnitude_);
        if (!std::isfinite(largest)) largest = check_costs(cost);
    }

private:
    using bits = lane_mask<T>;
    static constexpr std::size_t band = 4;

    // Magnitudes compare as their bits do, and NaN is larger than all of them.
    template <std::size_t Rows>
    void scan(matrix_view<const T> cost, std::size_t i, bits* first) {
        constexpr std::size_t width = lanes<T>;
        constexpr bits no_sign = std::numeric_limits<bits>::max();
        const T* c[Rows];
        pack<bits> magnitudes[Rows] = {};
        for (std::size_t r = 0; r < Rows; ++r) c[r] = cost.row(i + r).data();
        std::size_t j = 0;
        for (; j + width <= cost.cols(); j += width) {
            pack<T> least;
            pack<T> old;
            pack<bits> rows_of_old;
            for (std::size_t r = 0; r < Rows; ++r) {
                pack<T> x;
                pack<bits> magnitude;
                load(x, c[r] + j);
                std::memcpy(&magnitude, c[r] + j, sizeof(magnitude));
                magnitude &= no_sign;
                magnitudes[r] = magnitude > magnitudes[r] ? magnitude : magnitudes[r];
                if (r == 0)
                    least = x;
                else
                    minimize<T>(least, x);
            }
            load(old, minima.data() + j);
            load(rows_of_old, first + j);
            const pack<bits> better = least < old;
            store<T>(minima.data() + j, better ? least : old);
            store<bits>(first + j, better ? static_cast<bits>(i) - pack<bits>{} : rows_of_old);
        }
        bits largest_of_row[Rows] = {};
        for (std::size_t r = 0; r < Rows; ++r)
            for (std::size_t k = 0; k < width; ++k) largest_of_row[r] = std::max(largest_of_row[r], magnitudes[r][k]);
        for (; j < cost.cols(); ++j) {
            for (std::size_t r = 0; r < Rows; ++r) {
                const T x = c[r][j];
                largest_of_row[r] = std::max<bits>(largest_of_row[r], std::bit_cast<bits>(x) & no_sign);
                if (x < minima[j]) minima[j] = x, first[j] = static_cast<bits>(i);
            }
        }
        for (std::size_t r = 0; r < Rows; ++r) {
            magnitude_ = std::max(magnitude_, largest_of_row[r]);
            if (largest_of_row[r] == 0) zero_rows.push_back(static_cast<std::uint32_t>(i + r));
        }
    }

    bits magnitude_ = 0;
};

} // namespace plait::detail
