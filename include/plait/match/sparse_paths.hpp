#pragma once

#include <plait/match/candidate_lists.hpp>
#include <plait/match/priced_assignment.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace plait::detail {

/// Shortest augmenting paths over candidate lists.
///
/// Dijkstra's search from a free row to the nearest free column. What a row does not list is one event, at the bound of
/// its list: only when the search gets that far is the row scanned. So the paths are shortest among all pairs.
template <std::floating_point T>
class sparse_paths {
public:
    using index = typename priced_assignment<T>::index;

    sparse_paths(priced_assignment<T>& state, candidate_lists<T>& lists)
        : state_(state), lists_(lists), reach_(state.cols()), rebuilt_in_(state.rows()) {}

    /// How many rows were looked at whole, beside those scanned for lists.
    std::size_t scans() const { return scans_; }

    void augment(std::size_t start) {
        queue_.clear();
        for (index j : touched_) reach_[j].distance = infinity;
        touched_.clear();
        scanned_.clear();
        nearest_free_ = none;
        limit_ = infinity;
        search_ = start + 1;
        dead_reached_ = false;
        relax_list(start, 0);
        while (!queue_.empty() && queue_.front().distance < limit_) {
            const event e = queue_.front();
            std::ranges::pop_heap(queue_, later);
            queue_.pop_back();
            if (e.row != none) {
                relax_unlisted(e);
                continue;
            }
            reached& r = reach_[e.column];
            if (r.closed_in == search_) continue;
            r.closed_in = search_;
            const auto leave = [&](std::size_t row) { relax_list(row, e.distance - state_.dual(row)); };
            if (!state_.is_shared(e.column))
                leave(state_.row_of(e.column));
            else
                for (const index row : state_.occupants()) leave(row);
        }
        if (nearest_free_ == none) throw infeasible{start};
        for (index j : touched_)
            if (reach_[j].distance < limit_) state_.set_price(j, state_.price(j) - (limit_ - reach_[j].distance));
        flip(start);
        for (index i : scanned_) lists_.raise_bound(i, state_.dual(i));
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr index none = priced_assignment<T>::none;

    struct reached {
        double distance = infinity;
        T cost = 0; // of the pair (row, column)
        index row = none;
        std::size_t closed_in = 0; // the search that closed it
    };
    struct event {
        double distance;
        double base; // distance minus reduced cost
        index column;
        index row; // none: the column is reached; else what the row does not list is
    };
    static bool later(const event& a, const event& b) {
        if (a.distance != b.distance) return a.distance > b.distance;
        if ((a.row == none) != (b.row == none)) return a.row != none;
        return a.row == none ? a.column > b.column : a.row > b.row;
    }
    void push(const event& e) {
        queue_.push_back(e);
        std::ranges::push_heap(queue_, later);
    }

    void relax(std::size_t row, double distance, T cost, index column) {
        reached& r = reach_[column];
        if (distance >= r.distance || r.closed_in == search_) return; // a closed column may round to nearer still
        if (state_.is_free(column)) {
            if (distance > limit_ || (distance == limit_ && column > nearest_free_)) return;
            limit_ = distance;
            nearest_free_ = column;
        } else if (distance >= limit_) {
            return;
        } else if (state_.is_shared(column) || !(dead_reached_ && state_.is_dead(state_.row_of(column)))) {
            push({distance, 0, column, none});
        }
        if (r.distance == infinity) touched_.push_back(column);
        r.distance = distance;
        r.cost = cost;
        r.row = static_cast<index>(row);
    }

    void relax_list(std::size_t row, double base) {
        if (state_.is_dead(row)) {
            if (dead_reached_) return;
            dead_reached_ = true;
            return relax_all(row, base);
        }
        for (const auto& c : lists_.of(row)) {
            if (base + c.floor > limit_) break; // the rest of the list is farther still
            relax(row, base + state_.reduced(c.column, c.cost), c.cost, c.column);
        }
        const double distance = base + lists_.bound(row);
        if (distance < limit_) push({distance, base, none, static_cast<index>(row)});
    }

    // A longer look at the row: another list, and if that was not enough in this search either, every pair.
    void relax_unlisted(const event& e) {
        const double old_bound = lists_.bound(e.row);
        if (std::exchange(rebuilt_in_[e.row], search_) == search_) return relax_all(e.row, e.base);
        lists_.build(e.row);
        if (lists_.bound(e.row) > old_bound)
            relax_list(e.row, e.base);
        else
            relax_all(e.row, e.base);
    }

    void relax_all(std::size_t i, double base) {
        ++scans_;
        scanned_.push_back(static_cast<index>(i));
        const auto row = state_.cost().row(i);
        for (std::size_t j = 0; j < row.size(); ++j) {
            if (row[j] == std::numeric_limits<T>::infinity() || state_.is_hidden(j)) continue;
            const double distance = base + state_.reduced(j, row[j]);
            if (distance < limit_) relax(i, distance, row[j], static_cast<index>(j));
        }
    }

    void flip(std::size_t start) {
        for (index column = nearest_free_;;) {
            const reached& r = reach_[column];
            const index before = state_.column_of(r.row);
            if (before != none) state_.release(r.row);
            state_.match(r.row, column, static_cast<double>(r.cost));
            if (r.row == start) return;
            column = before;
        }
    }

    priced_assignment<T>& state_;
    candidate_lists<T>& lists_;
    std::vector<reached> reach_;
    std::vector<std::size_t> rebuilt_in_; // the last search that rebuilt the row's list
    std::vector<index> touched_;          // columns
    std::vector<index> scanned_;          // rows whose every pair was looked at
    std::vector<event> queue_;
    std::size_t scans_ = 0;
    std::size_t search_ = 0;
    bool dead_reached_ = false; // what one dead row reaches no other reaches sooner
    index nearest_free_ = none;
    double limit_ = infinity; // distance of the nearest free column
};

} // namespace plait::detail
