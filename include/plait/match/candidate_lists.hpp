#pragma once

#include <plait/core/simd.hpp>
#include <plait/match/magnitude.hpp>
#include <plait/match/priced_assignment.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace plait::detail {

/// For each row the columns with the smallest reduced costs, and a bound of what is not listed.
///
/// Prices only fall and reduced costs only rise, so a list stays right: what was not listed is still above the bound,
/// and what was listed at a reduced cost of `floor` is not below it. A list is made in one pass over its row when it is
/// first needed, and again when the bound is reached.
template <std::floating_point T>
class candidate_lists {
public:
    using index = std::uint32_t;
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    struct candidate {
        double floor; ///< reduced cost when the list was made
        T cost;
        index column;
    };

    /// `bound`: of all reduced costs, before there are lists.
    candidate_lists(const priced_assignment<T>& state, double bound)
        : state_(state), rows_(state.rows(), {.bound = bound}), cells_(state.cols() / block * lanes<T>) {
        pool_.reserve(state.rows() * capacity); // touched where lists are made
    }

    /// How many rows were scanned.
    std::size_t scans() const { return scans_; }

    std::span<const candidate> of(std::size_t i) const { return {pool_.data() + rows_[i].begin, rows_[i].size}; }

    /// No reduced cost that is not listed is smaller.
    double bound(std::size_t i) const { return rows_[i].bound; }

    two_best<T> best(std::size_t i) {
        two_best<T> b = listed(i);
        if (b.second > rows_[i].bound) {
            build(i);
            b = listed(i);
        }
        return b;
    }

    /// A lower bound of the row's reduced costs, the smallest of them if the list still shows it.
    double lower_bound(std::size_t i) const { return std::min(listed(i).first, rows_[i].bound); }

    double mean_width() const {
        double sum = 0;
        std::size_t lists = 0;
        for (const list& l : rows_) {
            if (l.size == 0 || l.bound == infinity) continue;
            sum += l.bound - pool_[l.begin].floor;
            ++lists;
        }
        return lists ? sum / static_cast<double>(lists) : 0;
    }

    /// Lists the row's smallest reduced costs at today's prices, about `size` of them.
    void build(std::size_t i) {
        scan(i, [](const T*) {});
        keep(i, usual_threshold(i));
        const auto listed = of(i);
        if (listed.size() > 1 && listed[1].floor > rows_[i].bound) // ties, and prices that were rounded
            keep(i, rounded_up<T>(listed[1].floor));
    }

    /// The row's smallest reduced cost, but at most `limit`, and its largest magnitude (see magnitude.hpp). Makes no
    /// list.
    double least(std::size_t i, double limit, T& largest) {
        magnitude<T> seen;
        scan(i, [&](const T* at) { seen.add_pack(at); });
        const auto row = state_.cost().row(i);
        for (std::size_t j = cells_.size() * depth; j < row.size(); ++j) seen.add(row[j]);
        largest = seen.largest();
        double found = limit;
        visit(i, rounded_up<T>(limit),
              [&](std::size_t j, T cost) { found = std::min(found, state_.reduced(j, cost)); });
        return found;
    }

    /// To be called when every reduced cost of the row is known to be `bound` or more.
    void raise_bound(std::size_t i, double bound) { rows_[i].bound = std::max(rows_[i].bound, bound); }

    /// Whether the row's two smallest reduced costs were equal when it was listed.
    bool is_tied(std::size_t i) const { return rows_[i].size > 1 && of(i)[0].floor == of(i)[1].floor; }

private:
    static constexpr std::size_t size = 16; // 12 to 24 measure alike, 8 far worse
    static constexpr std::size_t capacity = 2 * size;
    static constexpr std::size_t depth = 8; // packs per block; a cell is one lane of a block
    static constexpr std::size_t block = depth * lanes<T>;
    static constexpr T infinite = std::numeric_limits<T>::infinity();

    struct list {
        std::size_t begin = 0;
        std::size_t size = 0;
        double bound = 0;
    };

    two_best<T> listed(std::size_t i) const {
        two_best<T> b;
        for (const candidate& c : of(i)) {
            if (c.floor >= b.second && c.floor > b.first) break;
            const double reduced = state_.reduced(c.column, c.cost);
            if (reduced < b.first || (reduced == b.first && state_.is_free(c.column) && !state_.is_free(b.column))) {
                b = {reduced, b.first, c.cost, c.column};
            } else if (reduced < b.second) {
                b.second = reduced;
            }
        }
        return b;
    }

    // The minimum of every cell, and whatever else there is to see in the row.
    template <class Visitor>
    void scan(std::size_t i, const Visitor& see) {
        ++scans_;
        const T* c = state_.cost().row(i).data();
        const T* v = state_.rounded_prices();
        T* cells = cells_.data();
        for (std::size_t j = 0, n = state_.cols(); j + block <= n; j += block) {
            pack<T> least;
            for (std::size_t k = 0; k < depth; ++k) {
                pack<T> x;
                pack<T> price;
                load(x, c + j + k * lanes<T>);
                see(c + j + k * lanes<T>);
                load(price, v + j + k * lanes<T>);
                x -= price;
                if (k == 0)
                    least = x;
                else
                    minimize<T>(least, x);
            }
            store<T>(cells + j / depth, least);
        }
    }

    // About `size` entries reach the size-th smallest of many minima: cells, or groups of them, and the columns after
    // the last whole block.
    T usual_threshold(std::size_t i) {
        minima_.assign(cells_.begin(), cells_.end());
        while (minima_.size() >= 8 * size) {
            const std::size_t half = minima_.size() / 2;
            const std::size_t rest = minima_.size() - half;
            for (std::size_t k = 0; k < half; ++k) minima_[k] = std::min(minima_[k], minima_[rest + k]);
            minima_.resize(rest);
        }
        const T* c = state_.cost().row(i).data();
        const T* v = state_.rounded_prices();
        for (std::size_t j = cells_.size() * depth; j < state_.cols(); ++j) minima_.push_back(c[j] - v[j]);
        if (minima_.size() <= size) return infinite;
        const auto at = minima_.begin() + static_cast<std::ptrdiff_t>(size - 1);
        std::nth_element(minima_.begin(), at, minima_.end());
        return *at;
    }

    // The pairs up to the threshold, after a scan.
    template <class Visitor>
    void visit(std::size_t i, T threshold, const Visitor& visitor) const {
        const T* c = state_.cost().row(i).data();
        const T* v = state_.rounded_prices();
        const auto look_at = [&](std::size_t j) {
            if (c[j] - v[j] <= threshold && c[j] < infinite) visitor(j, c[j]);
        };
        for (std::size_t first = 0; first < cells_.size(); first += lanes<T>) {
            pack<T> minima;
            load(minima, cells_.data() + first);
            if (!any(minima <= threshold)) continue;
            for (std::size_t lane = 0; lane < lanes<T>; ++lane)
                if (minima[lane] <= threshold)
                    for (std::size_t k = 0; k < depth; ++k) look_at(first * depth + k * lanes<T> + lane);
        }
        for (std::size_t j = cells_.size() * depth; j < state_.cols(); ++j) look_at(j);
    }

    void keep(std::size_t i, T threshold) {
        found_.clear();
        visit(i, threshold, [&](std::size_t j, T cost) {
            found_.push_back({state_.reduced(j, cost), cost, static_cast<index>(j)});
        });
        list& l = rows_[i];
        l.bound = threshold; // what rounds to more is more
        const auto smaller = [](const candidate& a, const candidate& b) {
            return std::tie(a.floor, a.column) < std::tie(b.floor, b.column);
        };
        if (found_.size() > capacity) {
            const auto last = found_.begin() + static_cast<std::ptrdiff_t>(capacity);
            std::nth_element(found_.begin(), last, found_.end(), smaller);
            l.bound = std::min(l.bound, last->floor);
            found_.resize(capacity);
        }
        std::sort(found_.begin(), found_.end(), smaller);
        if (l.size == 0) {
            l.begin = pool_.size();
            pool_.resize(pool_.size() + capacity);
        }
        l.size = found_.size();
        std::copy(found_.begin(), found_.end(), pool_.begin() + static_cast<std::ptrdiff_t>(l.begin));
    }

    const priced_assignment<T>& state_;
    std::vector<list> rows_;
    std::vector<candidate> pool_;
    std::size_t scans_ = 0;
    std::vector<T> cells_;
    std::vector<T> minima_;
    std::vector<candidate> found_;
};

} // namespace plait::detail
