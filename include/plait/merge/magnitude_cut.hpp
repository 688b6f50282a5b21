#pragma once

#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
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
    unsigned digits() const { return is_wide ? 4 : 2; } ///< of 16 bits, from the top
};

/// Selects exactly the `count` largest magnitudes of one model's tensor; of equal ones the first. Radix selection from
/// the top: one pass counts each digit, one more finds the place among equals where it is needed. NaN is largest of
/// all. Complexity: O(n) per pass, memory for 65536 counts.
class magnitude_cut {
public:
    /// What one pass has seen: how often each digit occurs, or how many equals each block has. Where there are few
    /// elements, all their keys.
    struct partial {
        std::vector<std::uint64_t> digits = {};
        std::map<std::size_t, std::size_t> equals = {}; // first element of a block -> how many
        std::vector<std::pair<std::size_t, std::vector<std::uint64_t>>> keys = {}; // of each block: its first, all keys

        partial& operator+=(const partial& later) {
            keys.insert(keys.end(), later.keys.begin(), later.keys.end());
            for (std::size_t d = 0; d < digits.size(); ++d) digits[d] += later.digits[d];
            equals.insert(later.equals.begin(), later.equals.end());
            return *this;
        }
    };

    magnitude_cut(std::size_t count, std::size_t size, bool is_wide)
        : key_{is_wide}, needed_(count), is_small_(size <= few) {
        if (count == 0)
            key_of_last_ = ~std::uint64_t{0}, digits_left_ = 0; // above every magnitude
        else if (count >= size)
            digits_left_ = 0; // key 0 and place 0: everything
        else
            digits_left_ = key_.digits();
        is_placed_ = digits_left_ == 0;
        if (is_placed_) keeps_equals_ = count > 0;
    }

    /// Only to find the rank-th largest magnitude, of at least one.
    static magnitude_cut of_rank(std::size_t rank, bool is_wide) { return {rank, rank + 1, is_wide}; }

    bool is_settled() const { return is_placed_; }
    bool has_smallest() const { return digits_left_ == 0; }
    /// The smallest magnitude that is kept.
    double smallest() const { return key_.magnitude(key_of_last_); }

    partial empty() const { return {std::vector<std::uint64_t>(digits_left_ > 0 && !is_small_ ? radix : 0)}; }

    template <std::floating_point F>
    void observe(const block<F>& b, std::size_t model, partial& p) const {
        if (is_small_) {
            auto& keys = p.keys.emplace_back(b.first, std::vector<std::uint64_t>()).second;
            for (const F x : b.values[model]) keys.push_back(key_(static_cast<double>(x)));
        } else if (digits_left_ > 0) {
            const unsigned shift = shift_of_next();
            for (const F x : b.values[model]) {
                const std::uint64_t key = key_(static_cast<double>(x));
                if (is_candidate(key)) ++p.digits[(key >> shift) & (radix - 1)];
            }
        } else if (const std::size_t n = equals_in(b, model, b.size()); n > 0) {
            p.equals[b.first] = n;
        }
    }

    void settle(const partial& whole) {
        if (is_small_) return select(whole);
        if (digits_left_ == 0) return place(whole.equals);
        std::size_t digit = radix;
        std::uint64_t at_digit = 0;
        while (digit-- > 0) {
            at_digit = whole.digits[digit];
            if (at_digit >= needed_) break;
            needed_ -= at_digit;
        }
        key_of_last_ |= std::uint64_t{digit} << shift_of_next();
        if (--digits_left_ == 0 && at_digit == needed_) is_placed_ = keeps_equals_ = true;
    }

    /// kept(e, x) for elements [at, at + n) of a block; x is their magnitude's key. How many equals come before `at` is
    /// only counted in the one block where they run out.
    template <std::floating_point F, class Kept>
    void for_each(const block<F>& b, std::size_t model, std::size_t at, std::size_t n, const Kept& kept) const {
        std::size_t equals_left = 0;
        if (keeps_equals_ || b.first < block_of_last_)
            equals_left = n;
        else if (b.first == block_of_last_)
            equals_left = needed_ - std::min(needed_, equals_in(b, model, at));
        for (std::size_t e = 0; e < n; ++e) {
            const std::uint64_t key = key_(static_cast<double>(b.values[model][at + e]));
            const bool is_equal = key == key_of_last_;
            kept(e, key > key_of_last_ || (is_equal && equals_left > 0));
            if (is_equal && equals_left > 0) --equals_left;
        }
    }

private:
    static constexpr std::size_t radix = 65536;

    static constexpr std::size_t few = 16384; // keys are no more than counts of digits

    // Finds the block in which the equals run out.
    void place(const std::map<std::size_t, std::size_t>& equals_of_blocks) {
        for (const auto& [first, equals] : equals_of_blocks) {
            block_of_last_ = first;
            if (equals >= needed_) break;
            needed_ -= equals;
        }
        is_placed_ = true;
    }

    void select(const partial& whole) {
        std::vector<std::uint64_t> keys;
        for (const auto& [first, own] : whole.keys) keys.insert(keys.end(), own.begin(), own.end());
        const auto last = keys.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(needed_, keys.size()) - 1);
        std::ranges::nth_element(keys, last, std::ranges::greater{});
        key_of_last_ = *last;
        digits_left_ = 0;
        needed_ -= static_cast<std::uint64_t>(
            std::ranges::count_if(keys, [&](std::uint64_t key) { return key > key_of_last_; }));
        std::map<std::size_t, std::size_t> equals;
        for (const auto& [first, own] : whole.keys)
            equals[first] = static_cast<std::size_t>(std::ranges::count(own, key_of_last_));
        place(equals);
    }

    unsigned shift_of_next() const { return 64 - 16 * (key_.digits() - digits_left_ + 1); }
    // Whether a key has the digits found so far.
    bool is_candidate(std::uint64_t key) const {
        const unsigned found = key_.digits() - digits_left_;
        return found == 0 || (key ^ key_of_last_) >> (64 - 16 * found) == 0;
    }
    template <std::floating_point F>
    std::size_t equals_in(const block<F>& b, std::size_t model, std::size_t n) const {
        const auto begin = b.values[model].begin();
        return static_cast<std::size_t>(std::count_if(begin, begin + static_cast<std::ptrdiff_t>(n), [&](F x) {
            return key_(static_cast<double>(x)) == key_of_last_;
        }));
    }

    magnitude_key key_;
    std::uint64_t key_of_last_ = 0; // the smallest that is kept, or its digits found so far
    std::uint64_t needed_;          // how many are still to be found; at last, equals in the last block
    std::size_t block_of_last_ = 0;
    unsigned digits_left_;
    bool is_small_;
    bool is_placed_ = false;
    bool keeps_equals_ = false; // all of them
};

} // namespace plait::detail
