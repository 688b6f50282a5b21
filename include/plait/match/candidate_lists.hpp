#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>
#include <plait/match/magnitude.hpp>
#include <plait/match/priced_assignment.hpp>
#include <plait/match/row_filter.hpp>

#include <algorithm>
#include <bit>
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

    explicit candidate_lists(const priced_assignment<T>& state)
        : state_(state), rows_(state.rows()), filter_(state.cols()) {
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
        scan(i, [](const T*) PLAIT_ALWAYS_INLINE {});
        // Rows are alike: the width of a list usually fits the next row too.
        T threshold = filter_.smallest() + width_;
        auto columns = filter_.up_to(threshold);
        if (columns.size() < fewest || columns.size() > capacity) {
            threshold = filter_.threshold(size);
            width_ = threshold - filter_.smallest();
            columns = filter_.up_to(threshold);
        }
        keep(i, columns, threshold);
        const auto listed = of(i);
        if (listed.size() > 1 && listed[1].floor > rows_[i].bound) { // ties, and prices that were rounded
            threshold = rounded_up<T>(listed[1].floor);
            keep(i, filter_.up_to(threshold), threshold);
        }
    }

    /// The row's smallest reduced cost, but at most `limit`, and its largest magnitude (see magnitude.hpp). Makes no
    /// list.
    double least(std::size_t i, double limit, T& largest) {
        magnitude<T> seen;
        // Rows come in their order: the next one is on its way while this one is looked at.
        const T* next = state_.cost().row(std::min(i + 1, state_.rows() - 1)).data();
        const auto ahead = next - state_.cost().row(i).data();
        scan(i, [&](const T* at) PLAIT_ALWAYS_INLINE {
            seen.add_pack(at);
            prefetch_to_level_2(at + ahead, lanes<T>);
        });
        const auto row = state_.cost().row(i);
        for (std::size_t j = filter_.whole(); j < row.size(); ++j) seen.add(row[j]);
        largest = seen.largest();
        const T threshold = rounded_up<T>(limit);
        if (filter_.is_crowded(threshold)) return std::min(limit, state_.least_reduced(i)); // many ties
        double found = limit;
        for (index j : filter_.up_to(threshold)) found = std::min(found, state_.reduced(j, row[j]));
        return found;
    }

    /// To be called when every reduced cost of the row is known to be `bound` or more.
    void raise_bound(std::size_t i, double bound) { rows_[i].bound = std::max(rows_[i].bound, bound); }

    /// Whether the row's two smallest reduced costs were equal when it was listed.
    bool is_tied(std::size_t i) const { return rows_[i].size > 1 && of(i)[0].floor == of(i)[1].floor; }

private:
    static constexpr std::size_t size = 16; // 12 to 24 measure alike, 8 far worse
    static constexpr std::size_t capacity = 2 * size;
    static constexpr std::size_t fewest = 10;

    struct list {
        std::size_t begin = 0;
        std::size_t size = 0;
        double bound = -infinity;
    };

    two_best<T> listed(std::size_t i) const {
        two_best<T> b;
        for (const candidate& c : of(i)) {
            if (c.floor >= b.second && c.floor > b.first) break;
            const double reduced = state_.reduced(c.column, c.cost);
            if (reduced < b.first || (reduced == b.first && goes_before(c.column, b.column))) {
                b = {reduced, b.first, c.cost, c.column};
            } else if (reduced < b.second) {
                b.second = reduced;
            }
        }
        return b;
    }

    // Among equals.
    bool goes_before(index column, index other) const {
        return state_.is_free(column) != state_.is_free(other) ? state_.is_free(column) : column < other;
    }

    template <class Visitor>
    void scan(std::size_t i, const Visitor& see) {
        ++scans_;
        filter_.scan(state_.cost().row(i).data(), state_.rounded_prices(), see);
    }

    void keep(std::size_t i, std::span<const index> columns, T threshold) {
        const T* costs = state_.cost().row(i).data();
        found_.clear();
        for (index j : columns) found_.push_back({state_.reduced(j, costs[j]), costs[j], j});
        list& l = rows_[i];
        l.bound = threshold; // what rounds to more is more
        if (found_.size() > capacity) {
            const auto last = found_.begin() + static_cast<std::ptrdiff_t>(capacity);
            std::nth_element(found_.begin(), last, found_.end(), [](const candidate& a, const candidate& b) {
                return std::tie(a.floor, a.column) < std::tie(b.floor, b.column);
            });
            l.bound = std::min(l.bound, last->floor);
            found_.resize(capacity);
        }
        if (l.size == 0) {
            l.begin = pool_.size();
            pool_.resize(pool_.size() + capacity);
        }
        l.size = found_.size();
        sort_found(pool_.data() + l.begin);
    }

    // Counts for each candidate how many are smaller: there are few, and no branch depends on the numbers.
    void sort_found(candidate* to) const {
        alignas(32) double floors[capacity];
        const std::size_t count = found_.size();
        for (std::size_t k = 0; k < capacity; ++k) floors[k] = k < count ? found_[k].floor : infinity;
        static_assert(capacity <= 32);
        std::uint32_t taken = 0;
        for (std::size_t k = 0; k < count; ++k) {
            pack<double> mine;
            pack<std::int64_t> smaller = {};
            fill(mine, floors[k]);
            for (std::size_t j = 0; j < count; j += lanes<double>) {
                pack<double> others;
                load(others, floors + j);
                smaller -= others < mine;
            }
            auto rank = static_cast<std::size_t>(smaller[0] + smaller[1] + smaller[2] + smaller[3]);
            rank += static_cast<std::size_t>(std::countr_one(taken >> rank)); // equals follow each other
            taken |= std::uint32_t{1} << rank;
            to[rank] = found_[k];
        }
    }

    const priced_assignment<T>& state_;
    std::vector<list> rows_;
    std::vector<candidate> pool_;
    std::size_t scans_ = 0;
    row_filter<T> filter_;
    T width_ = -1; // of a list: threshold minus smallest
    std::vector<candidate> found_;
};

} // namespace plait::detail
