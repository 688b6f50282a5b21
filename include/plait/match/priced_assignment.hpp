#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>
#include <plait/match/matcher.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace plait::detail {

/// Thrown when every assignment has a forbidden pair.
struct infeasible {
    std::size_t index; ///< of a row, or a column, that cannot be matched
    bool is_column = false;
};

/// The smallest T that is not below x.
template <std::floating_point T>
T rounded_up(double x) {
    const auto rounded = static_cast<T>(x);
    return static_cast<double>(rounded) < x ? std::nextafter(rounded, std::numeric_limits<T>::infinity()) : rounded;
}

/// Rows with columns, rows that are still free, and a price for every column: the state that every phase of the solver
/// improves. Rows <= columns.
///
/// The reduced cost of a pair is its cost minus the column's price. Every matched row sits on its smallest reduced
/// cost, which is the row's dual; prices only fall, so that a lower bound of reduced costs stays one.
template <std::floating_point T>
class priced_assignment {
public:
    using index = std::uint32_t;
    static constexpr index none = static_cast<index>(-1);

    explicit priced_assignment(matrix_view<const T> cost)
        : cost_(cost),
          prices_(cost.cols()),
          rounded_prices_(cost.cols()),
          column_of_(cost.rows(), none),
          row_of_(cost.cols(), none),
          matched_cost_(cost.rows()),
          dead_(cost.rows()) {}

    matrix_view<const T> cost() const { return cost_; }
    std::size_t rows() const { return column_of_.size(); }
    std::size_t cols() const { return row_of_.size(); }
    index column_of(std::size_t i) const { return column_of_[i]; }
    index row_of(std::size_t j) const { return row_of_[j]; }
    bool is_free(std::size_t j) const { return j == shared_ ? occupants_.size() < alike_.size() : row_of_[j] == none; }
    double price(std::size_t j) const { return prices_[j]; }
    const double* prices() const { return prices_.data(); }

    /// Prices rounded up, so that a cost minus them bounds the reduced cost from below.
    const T* rounded_prices() const { return rounded_prices_.data(); }

    void set_price(std::size_t j, double price) {
        prices_[j] = price;
        if (is_hidden(j)) return;
        rounded_prices_[j] = rounded_up<T>(price);
    }

    double reduced(std::size_t j, T cost) const { return static_cast<double>(cost) - prices_[j]; }

    /// The smallest reduced cost of a row. Looks at all of it.
    double least_reduced(std::size_t i) const {
        const T* costs = cost_.row(i).data();
        const double* prices = prices_.data();
        const std::size_t n = cols();
        return with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            pack<double> least[4]; // which do not wait for each other
            for (auto& l : least) fill(l, std::numeric_limits<double>::infinity());
            std::size_t j = 0;
            for (; j + 4 * lanes<double> <= n; j += 4 * lanes<double>)
                for (std::size_t k = 0; k < 4; ++k) {
                    pack<double> x;
                    pack<double> price;
                    load_doubles<T>(x, costs + j + k * lanes<double>);
                    load(price, prices + j + k * lanes<double>);
                    minimize<double>(least[k], x - price);
                }
            double smallest = std::numeric_limits<double>::infinity();
            for (const auto& l : least)
                for (std::size_t lane = 0; lane < lanes<double>; ++lane) smallest = std::min(smallest, l[lane]);
            for (; j < n; ++j) smallest = std::min(smallest, reduced(j, costs[j]));
            return smallest;
        });
    }

    /// The reduced cost of a matched row.
    double dual(std::size_t i) const { return matched_cost_[i] - prices_[column_of_[i]]; }
    double matched_cost(std::size_t i) const { return matched_cost_[i]; }

    /// Gives row i column j; returns the row that had it, or none.
    index match(std::size_t i, std::size_t j, double cost) {
        column_of_[i] = static_cast<index>(j);
        matched_cost_[i] = cost;
        if (j == shared_) {
            seat_[i] = static_cast<index>(occupants_.size());
            occupants_.push_back(static_cast<index>(i));
            return none;
        }
        const index evicted = std::exchange(row_of_[j], static_cast<index>(i));
        if (evicted != none) column_of_[evicted] = none;
        return evicted;
    }

    void release(std::size_t i) {
        const index j = std::exchange(column_of_[i], none);
        if (j != shared_) {
            row_of_[j] = none;
            return;
        }
        occupants_[seat_[i]] = occupants_.back();
        seat_[occupants_.back()] = seat_[i];
        occupants_.pop_back();
    }

    /// Columns without a cost are alike too, and have one price: from now on the first of them, the shared one, stands
    /// for all and takes as many rows; the others are hidden, and free. All have the same price when this is called.
    void share(std::vector<index> columns) {
        seat_.resize(rows());
        shared_ = columns.front();
        alike_ = std::move(columns);
        for (const index j : alike_) {
            if (j != shared_) rounded_prices_[j] = -std::numeric_limits<T>::infinity();
            if (const index i = std::exchange(row_of_[j], none); i != none) match(i, shared_, matched_cost_[i]);
        }
    }

    /// Gives every column its own price and row again.
    void unshare() {
        if (shared_ == none) return;
        const double price = prices_[shared_];
        std::vector<index> seated = std::exchange(occupants_, {});
        std::ranges::sort(seated);
        shared_ = none;
        for (const index j : alike_) {
            rounded_prices_[j] = 0;
            set_price(j, price);
        }
        for (std::size_t k = 0; k < seated.size(); ++k) match(seated[k], alike_[k], matched_cost_[seated[k]]);
    }

    bool is_shared(std::size_t j) const { return j == shared_; }
    bool is_hidden(std::size_t j) const { return rounded_prices_[j] == -std::numeric_limits<T>::infinity(); }
    const std::vector<index>& occupants() const { return occupants_; } ///< of the shared column

    /// Rows without a cost are alike: who has reached one need not look at another.
    void mark_dead(std::size_t i) { dead_[i] = true; }
    bool is_dead(std::size_t i) const { return dead_[i]; }

    std::vector<index> free_rows() const {
        std::vector<index> free;
        for (std::size_t i = 0; i < rows(); ++i)
            if (column_of_[i] == none) free.push_back(static_cast<index>(i));
        return free;
    }

private:
    matrix_view<const T> cost_;
    std::vector<double> prices_;
    std::vector<T> rounded_prices_;
    std::vector<index> column_of_;
    std::vector<index> row_of_;
    std::vector<double> matched_cost_;
    std::vector<bool> dead_;
    index shared_ = none;
    std::vector<index> alike_;     // the columns that the shared one stands for
    std::vector<index> occupants_; // rows on the shared column
    std::vector<index> seat_;      // of row i among them
};

/// The smallest reduced cost of a row, where (at a free column if there is a choice), and the second smallest.
template <std::floating_point T>
struct two_best {
    double first = std::numeric_limits<double>::infinity();
    double second = std::numeric_limits<double>::infinity();
    T cost = 0;
    std::uint32_t column = static_cast<std::uint32_t>(-1);
};

} // namespace plait::detail
