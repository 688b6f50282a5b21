#pragma once

#include <plait/match/candidate_lists.hpp>
#include <plait/match/priced_assignment.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <vector>

namespace plait::detail {

/// Free rows bid for the columns they like best: the price falls until the row is as content with its second choice
/// (and by `epsilon` more), the former owner bids next. With epsilon 0 every match stays exact.
///
/// Stops after `budget` bids. Returns whether it came to an end before; rows that tied are then still free.
/// Sources: Jonker and Volgenant 1987 (augmenting row reduction); Bertsekas 1988 (auction).
template <std::floating_point T, class Rows>
bool bid(priced_assignment<T>& state, Rows& rows, double epsilon, std::size_t budget) {
    using index = typename priced_assignment<T>::index;
    constexpr index none = priced_assignment<T>::none;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<index> waiting = state.free_rows();
    std::vector<index> stack(waiting.rbegin(), waiting.rend());
    while (!stack.empty()) {
        if (budget-- == 0) return false;
        const index i = stack.back();
        stack.pop_back();
        const auto best = rows.best(i);
        if (best.first == infinity) throw infeasible{i};
        // Others keep their places on a shared column, so its price stays; so it does for a row without a choice.
        const bool stays = best.second == infinity || state.is_shared(best.column);
        const double old_price = state.price(best.column);
        const double price = stays ? old_price : old_price - (best.second - best.first) - epsilon;
        const bool falls = price < old_price;
        if (!falls && !state.is_free(best.column)) continue; // a tie: left to the augmenting paths
        if (falls) state.set_price(best.column, price);
        const index evicted = state.match(i, best.column, static_cast<double>(best.cost));
        if (evicted != none) stack.push_back(evicted);
    }
    return true;
}

/// Frees the rows whose reduced cost is more than `epsilon` above their smallest.
template <std::floating_point T>
void release_above(priced_assignment<T>& state, candidate_lists<T>& lists, double epsilon) {
    for (std::size_t i = 0; i < state.rows(); ++i)
        if (state.column_of(i) != priced_assignment<T>::none && state.dual(i) > lists.lower_bound(i) + epsilon
            && state.dual(i) > lists.best(i).first + epsilon)
            state.release(i);
}

} // namespace plait::detail
