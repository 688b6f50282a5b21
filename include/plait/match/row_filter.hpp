#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace plait::detail {

/// Finds the small elements of a row of costs minus prices: reads the row once, for the minima of cells of 8 elements,
/// and then only cells that have something to show.
template <std::floating_point T>
class row_filter {
public:
    using index = std::uint32_t;

    explicit row_filter(std::size_t columns)
        : cells_(columns / block * lanes<T>), columns_(columns), hits_(cells_.size() + 1), found_(columns + 1) {}

    /// Looks at a row, and calls see(pointer) for each of its whole packs.
    template <class Visitor>
    void scan(const T* costs, const T* prices, const Visitor& see) {
        costs_ = costs;
        prices_ = prices;
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE { find_minima(see); });
    }

    /// The columns before this one lie in whole blocks, the rest is not passed to see().
    std::size_t whole() const { return cells_.size() * depth; }

    /// The smallest element of the row; infinite if there is none.
    T smallest() const { return smallest_; }

    /// A threshold that `count` elements or some more reach: the count-th smallest of many minima.
    T threshold(std::size_t count) {
        minima_.assign(cells_.begin(), cells_.end());
        while (minima_.size() >= 8 * count) { // of two cells each
            const std::size_t half = minima_.size() / 2;
            const std::size_t rest = minima_.size() - half;
            for (std::size_t k = 0; k < half; ++k) minima_[k] = std::min(minima_[k], minima_[rest + k]);
            minima_.resize(rest);
        }
        for (std::size_t j = whole(); j < columns_; ++j) minima_.push_back(costs_[j] - prices_[j]);
        if (minima_.size() <= count) return infinite;
        const auto at = minima_.begin() + static_cast<std::ptrdiff_t>(count - 1);
        std::nth_element(minima_.begin(), at, minima_.end());
        return *at;
    }

    /// Whether so many elements are at most `threshold` that up_to() costs more than another look at the whole row.
    bool is_crowded(T threshold) const {
        return 16 * static_cast<std::size_t>(std::ranges::count_if(cells_, [=](T least) { return least <= threshold; }))
               > cells_.size();
    }

    /// The columns of finite elements that are at most `threshold`. Valid until the next call.
    std::span<const index> up_to(T threshold) {
        return with_widest_vectors([&]() PLAIT_ALWAYS_INLINE { return find_up_to(threshold); });
    }

private:
    static constexpr std::size_t depth = 8; // packs per block; a cell is one lane of a block
    static constexpr std::size_t block = depth * lanes<T>;
    static constexpr T infinite = std::numeric_limits<T>::infinity();

    template <class Visitor>
    PLAIT_ALWAYS_INLINE void find_minima(const Visitor& see) {
        T* cells = cells_.data();
        pack<T> smallest;
        fill(smallest, infinite);
        for (std::size_t j = 0; j + block <= columns_; j += block) {
            pack<T> least;
            for (std::size_t k = 0; k < depth; ++k) {
                const std::size_t at = j + k * lanes<T>;
                pack<T> x;
                pack<T> price;
                load(x, costs_ + at);
                load(price, prices_ + at);
                see(costs_ + at);
                x -= price;
                if (k == 0)
                    least = x;
                else
                    minimize<T>(least, x);
            }
            store<T>(cells + j / depth, least);
            minimize<T>(smallest, least);
        }
        smallest_ = infinite;
        for (std::size_t lane = 0; lane < lanes<T>; ++lane) smallest_ = std::min(smallest_, smallest[lane]);
        for (std::size_t j = whole(); j < columns_; ++j) smallest_ = std::min(smallest_, costs_[j] - prices_[j]);
    }

    PLAIT_ALWAYS_INLINE std::span<const index> find_up_to(T threshold) {
        // Unconditional writes: which elements pass cannot be predicted.
        std::size_t hits = 0;
        for (std::size_t first = 0; first < cells_.size(); first += lanes<T>) {
            pack<T> minima;
            load(minima, cells_.data() + first);
            if (!any(minima <= threshold)) continue;
            for (std::size_t lane = 0; lane < lanes<T>; ++lane) {
                hits_[hits] = static_cast<index>(first * depth + lane);
                hits += minima[lane] <= threshold;
            }
        }
        std::size_t found = 0;
        const auto take = [&](std::size_t j) {
            found_[found] = static_cast<index>(j);
            const T x = costs_[j] - prices_[j];
            found += (x <= threshold) & (x < infinite);
        };
        for (std::size_t h = 0; h < hits; ++h)
            for (std::size_t k = 0; k < depth; ++k) take(hits_[h] + k * lanes<T>);
        for (std::size_t j = whole(); j < columns_; ++j) take(j);
        return {found_.data(), found};
    }

    std::vector<T> cells_;
    std::size_t columns_;
    std::vector<index> hits_;  // first columns of cells
    std::vector<index> found_; // columns
    std::vector<T> minima_;
    const T* costs_ = nullptr;
    const T* prices_ = nullptr;
    T smallest_ = infinite;
};

} // namespace plait::detail
