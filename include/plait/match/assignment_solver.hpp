#pragma once

#include <plait/match/bidding.hpp>
#include <plait/match/candidate_lists.hpp>
#include <plait/match/cost_scan.hpp>
#include <plait/match/dense_paths.hpp>
#include <plait/match/dense_rows.hpp>
#include <plait/match/magnitude.hpp>
#include <plait/match/matcher.hpp>
#include <plait/match/priced_assignment.hpp>
#include <plait/match/sparse_paths.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>

namespace plait::detail {

/// Matches every row of a matrix with rows <= columns, both at least 1.
///
/// Square matrices start from their column minima; where these lie in different rows, one pass has solved the problem.
/// What is left is solved over candidate lists, or over whole rows where there are few columns or most rows tie.
template <std::floating_point T>
class assignment_solver {
public:
    /// Up to `few_columns` whole rows are looked at; the default is where that measured slower.
    explicit assignment_solver(matrix_view<const T> cost, std::size_t few_columns = 160)
        : cost_(cost), state_(cost), lists_(state_), few_columns_(few_columns) {}

    /// Prices and matches to begin with, from the costs alone. Throws value_error as check_costs does.
    void start() {
        if (!is_square()) {
            for (std::size_t i = 0; i < state_.rows(); ++i) note(i, largest_magnitude<T>(cost_.row(i)));
            check();
            return;
        }
        const cost_scan<T> scan(cost_);
        largest_ = scan.largest;
        check();
        for (std::size_t j = 0; j < state_.cols(); ++j) {
            if (scan.minima[j] == std::numeric_limits<T>::infinity()) throw infeasible{j, true};
            state_.set_price(j, static_cast<double>(scan.minima[j]));
        }
        for (std::size_t i = 0; i < state_.rows(); ++i)
            lists_.raise_bound(i, 0); // no cost is below its column's minimum
        for (const auto i : scan.zero_rows) state_.mark_dead(i);
        for (std::size_t j = 0; j < state_.cols(); ++j)
            if (const auto i = scan.rows[j]; state_.column_of(i) == none && !state_.is_dead(i))
                state_.match(i, j, static_cast<double>(scan.minima[j]));
        auto dead = scan.zero_rows.begin();
        for (std::size_t j = 0; j < state_.cols() && dead != scan.zero_rows.end(); ++j)
            if (state_.is_free(j) && scan.minima[j] == 0) state_.match(*dead++, j, 0);
        if (scan.zero_columns.size() > 1 && state_.cols() > few_columns_) state_.share(scan.zero_columns);
    }

    /// Prices of a matrix of the same shape, and its matches where they are still the cheapest of their row. False when
    /// these are less than half of the rows, or when the prices would prove nothing: in a matrix that is not square
    /// those that are positive, or of a column without a row; anywhere those so much larger than the costs that
    /// differences are lost.
    bool start_from(const assignment& previous) {
        double largest_price = 0;
        for (double price : previous.column_duals) largest_price = std::max(largest_price, std::fabs(price));
        if (largest_price > static_cast<double>(std::numeric_limits<T>::max() / 4)) return false;
        for (std::size_t j = 0; j < state_.cols(); ++j) state_.set_price(j, previous.column_duals[j]);
        const double dead_dual = this->dead_dual();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < state_.rows(); ++i) {
            const std::size_t j = previous.columns[i];
            const auto cost = static_cast<double>(cost_(i, j));
            const double dual = cost - state_.price(j);
            const double rounding = 0x1p-51 * (std::fabs(cost) + std::fabs(state_.price(j))); // of prices set earlier
            T largest = 0;
            const auto first_few = cost_.row(i).first(std::min<std::size_t>(64, state_.cols()));
            const bool may_be_dead = cost == 0 && std::ranges::all_of(first_few, [](T c) { return c == 0; });
            const bool is_dead = may_be_dead && largest_magnitude<T>(cost_.row(i)) == 0;
            const double least = is_dead ? dead_dual : lists_.least(i, dual, largest);
            note(i, largest);
            lists_.raise_bound(i, least);
            if (dual <= least + rounding && std::isfinite(cost)) {
                state_.match(i, j, cost);
                ++kept;
            } else if (2 * (i + 1 - kept) > state_.rows()) {
                return false;
            }
        }
        check();
        if (largest_price > 8 * static_cast<double>(largest_)) return false;
        if (is_square()) return true;
        for (std::size_t j = 0; j < state_.cols(); ++j)
            if (state_.price(j) > 0 || (state_.is_free(j) && state_.price(j) < 0)) return false;
        return kept == state_.rows();
    }

    /// Whether sums of costs may be too large for T.
    bool may_overflow() const {
        return largest_ > std::numeric_limits<T>::max() / 4 / static_cast<T>(state_.rows() + state_.cols() + 1);
    }

    assignment finish() {
        if (!state_.free_rows().empty()) {
            if (state_.cols() <= few_columns_ || most_rows_tie())
                match_over_rows();
            else
                match_over_lists();
        }
        return result();
    }

    /// How many rows were scanned after the first pass.
    std::size_t scans() const { return scans_ + lists_.scans(); }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr auto none = priced_assignment<T>::none;

    bool is_square() const { return state_.rows() == state_.cols(); }

    void note(std::size_t i, T largest) {
        if (largest == 0) state_.mark_dead(i);
        if (std::isnan(largest) || largest > largest_) largest_ = largest; // a NaN stays
    }

    void check() {
        if (!std::isfinite(largest_) || may_overflow()) largest_ = check_costs(cost_);
    }

    // The smallest reduced cost of all rows without a cost.
    double dead_dual() const { return -*std::max_element(state_.prices(), state_.prices() + state_.cols()); }

    bool most_rows_tie() {
        std::size_t looked_at = 0;
        std::size_t tied = 0;
        for (const auto i : state_.free_rows()) {
            if (state_.is_dead(i)) continue;
            lists_.build(i);
            tied += lists_.is_tied(i);
            if (++looked_at == 32) break;
        }
        return 2 * tied > looked_at;
    }

    void match_over_rows() {
        state_.unshare();
        dense_rows<T> rows(state_);
        bid(state_, rows, 0.0, 2 * state_.rows());
        dense_paths<T> paths(state_);
        for (const auto i : state_.free_rows()) paths.augment(i);
        for (std::size_t i = 0; i < state_.rows(); ++i) lists_.raise_bound(i, state_.least_reduced(i));
        scans_ += rows.scans() + paths.scans();
    }

    void match_over_lists() {
        for (const auto i : state_.free_rows())
            if (lists_.of(i).empty()) lists_.build(i);
        if (is_square()) bid_roughly();
        if (lists_suffice()) bid(state_, lists_, 0.0, 10 * state_.rows());
        sparse_paths<T> paths(state_, lists_);
        for (const auto i : state_.free_rows()) {
            if (!lists_suffice(paths.scans())) break;
            paths.augment(i);
        }
        scans_ += paths.scans();
        if (!state_.free_rows().empty()) match_over_rows();
    }

    // Where lists had to be made again and again, most pairs matter, and whole rows are quicker.
    bool lists_suffice(std::size_t other_scans = 0) const { return lists_.scans() + other_scans <= 40 * state_.rows(); }

    // One phase of bids that are a little too high comes near the optimum; where it takes long, the prices have far to
    // fall, and they fall faster in phases.
    void bid_roughly() {
        const double width = lists_.mean_width();
        const std::size_t budget = 25 * state_.rows();
        if (width > 0 && !bid(state_, lists_, width / 50, budget)) {
            for (const double share : {1.0, 0.2, 0.04, 0.008}) {
                if (!lists_suffice()) break;
                release_above(state_, lists_, share * width);
                bid(state_, lists_, share * width, budget);
            }
        }
        release_above(state_, lists_, 0);
    }

    assignment result() {
        state_.unshare();
        assignment a;
        const double dead_dual = this->dead_dual();
        for (std::size_t i = 0; i < state_.rows(); ++i) {
            const double dual = state_.dual(i);
            const double bound = state_.is_dead(i) ? dead_dual : lists_.lower_bound(i);
            a.columns.push_back(state_.column_of(i));
            a.row_duals.push_back(std::min(dual, bound));
            a.cost += state_.matched_cost(i);
            a.gap += dual - a.row_duals.back();
        }
        a.column_duals.assign(state_.prices(), state_.prices() + state_.cols());
        return a;
    }

    matrix_view<const T> cost_;
    priced_assignment<T> state_;
    candidate_lists<T> lists_;
    T largest_ = 0; // magnitude
    std::size_t few_columns_;
    std::size_t scans_ = 0;
};

} // namespace plait::detail
