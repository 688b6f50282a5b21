#pragma once

#include <plait/core/error.hpp>
#include <plait/core/scratch.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace plait::detail {

/// Sorts the magnitudes of rows. Unless wide, they are compared as floats.   Complexity: O(n); wide, O(n log n).
class magnitude_order {
public:
    /// Of rows of so many elements. Throws shape_error for 2^31.
    magnitude_order(std::size_t row, bool is_wide) : is_wide_(is_wide), row_(row) {
        if (row >= std::size_t{1} << 31)
            throw shape_error("a row has " + std::to_string(row) + " elements, expected fewer than 2^31 to rank");
    }

    /// The lower 32 bits of entry r are the position of the r-th smallest magnitude of a row, of equal ones the first.
    /// NaN is largest. Gone with the next row.
    template <std::floating_point F>
    std::span<const std::uint64_t> of(std::span<const F> row) {
        const std::size_t n = row.size();
        entries_ = {first_.of<std::uint64_t>(row_), n};
        others_ = {second_.of<std::uint64_t>(row_), n};
        if (is_wide_) {
            std::iota(entries_.begin(), entries_.end(), std::uint64_t{0});
            std::ranges::stable_sort(entries_, {}, [&](std::uint64_t e) {
                return std::bit_cast<std::uint64_t>(std::fabs(static_cast<double>(row[e])));
            });
            return entries_;
        }
        for (std::size_t e = 0; e < n; ++e) {
            const auto magnitude = std::bit_cast<std::uint32_t>(std::fabs(static_cast<float>(row[e])));
            entries_[e] = std::uint64_t{magnitude} << 32 | e;
        }
        sort();
        return entries_;
    }

private:
    static constexpr int digit_bits = 11;
    static constexpr std::size_t digits = std::size_t{1} << digit_bits;

    // By the first bits in which magnitudes differ, and the few that are equal in those one by one.
    void sort() {
        std::uint64_t differing = 0;
        for (const std::uint64_t x : entries_) differing |= x ^ entries_[0];
        differing >>= 32;
        const int end = static_cast<int>(std::bit_width(differing));
        int bit = std::countr_zero(differing);
        const bool is_whole = bit >= end - 2 * digit_bits;
        if (!is_whole) bit = end - 2 * digit_bits;
        for (; bit < end; bit += digit_bits) sort_by_digit(32 + bit);
        if (!is_whole && !insert_each(entries_.size())) std::ranges::sort(entries_);
    }

    // One pass of a radix sort. Both halves of the row are counted and moved at once, so that equal neighbours need not
    // wait for each other.
    void sort_by_digit(int shift) {
        const auto digit = [shift](std::uint64_t x) { return (x >> shift) & (digits - 1); };
        const std::size_t half = entries_.size() / 2;
        const bool is_odd = entries_.size() % 2 != 0;
        const std::uint64_t* const first = entries_.data();
        const std::uint64_t* const second = first + half;
        std::array<std::uint32_t, digits> next{}, next_of_second{};
        for (std::size_t i = 0; i < half; ++i) ++next[digit(first[i])], ++next_of_second[digit(second[i])];
        if (is_odd) ++next_of_second[digit(second[half])];
        std::uint32_t before = 0;
        for (std::size_t d = 0; d < digits; ++d) {
            before += std::exchange(next[d], before);
            before += std::exchange(next_of_second[d], before);
        }
        std::uint64_t* const to = others_.data();
        for (std::size_t i = 0; i < half; ++i) {
            to[next[digit(first[i])]++] = first[i];
            to[next_of_second[digit(second[i])]++] = second[i];
        }
        if (is_odd) to[next_of_second[digit(second[half])]] = second[half];
        std::swap(entries_, others_);
    }

    // Insertion sort; false where it would take more moves than that.
    bool insert_each(std::size_t most_moves) {
        for (std::size_t i = 1; i < entries_.size(); ++i) {
            const std::uint64_t own = entries_[i];
            std::size_t to = i;
            for (; to > 0 && entries_[to - 1] > own; --to) {
                if (most_moves-- == 0) return entries_[to] = own, false;
                entries_[to] = entries_[to - 1];
            }
            entries_[to] = own;
        }
        return true;
    }

    bool is_wide_;
    std::size_t row_;
    scratch first_, second_;
    std::span<std::uint64_t> entries_, others_; // magnitude, then position
};

} // namespace plait::detail
