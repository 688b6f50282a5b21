#pragma once

#include <plait/core/instruction_set.hpp>
#include <plait/core/simd.hpp>
#include <plait/match/dense_rows.hpp>
#include <plait/match/priced_assignment.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <vector>

namespace plait::detail {

/// Shortest augmenting paths over all pairs: Dijkstra's search with a scan of the row for every column that it reaches.
/// Complexity: O(n m) per augmentation at worst.
template <std::floating_point T>
class dense_paths {
public:
    using index = typename priced_assignment<T>::index;

    explicit dense_paths(priced_assignment<T>& state)
        : state_(state),
          prices_(padded(state.cols())),
          distance_(padded(state.cols())),
          cells_(padded(state.cols()) / depth) {
        for (std::size_t j = 0; j < state.cols(); ++j)
            if (state.is_free(j)) free_columns_.push_back(static_cast<index>(j));
    }

    std::size_t scans() const { return scans_; }

    void augment(std::size_t start) {
        std::copy_n(state_.prices(), state_.cols(), prices_.begin());
        std::ranges::fill(distance_, infinity);
        closed_.clear();
        scanned_.clear();
        std::size_t row = start;
        double base = 0;
        bool dead_reached = false;
        for (;;) {
            const bool dead = state_.is_dead(row);
            const double reached = dead && dead_reached ? nearest() : relax(row, base);
            dead_reached = dead_reached || dead;
            if (reached == infinity) throw infeasible{start};
            const auto free = std::ranges::find_if(free_columns_, [&](index j) { return distance_[j] == reached; });
            if (free != free_columns_.end()) {
                const index column = *free;
                free_columns_.erase(free);
                flip({column, reached, scanned_.size()});
                for (const closed& c : closed_)
                    state_.set_price(c.column, state_.price(c.column) - (reached - c.distance));
                return;
            }
            const std::size_t column = column_at(reached);
            closed_.push_back({static_cast<index>(column), reached, scanned_.size()});
            distance_[column] = infinity;
            refresh_cell(column);
            prices_[column] = -infinity; // never nearer again
            row = state_.row_of(column);
            base = reached - state_.dual(row);
        }
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t depth = 4; // packs per cell
    static constexpr std::size_t block = depth * lanes<double>;

    struct closed {
        index column;
        double distance;
        std::size_t scanned; // how many rows had been when it was closed
    };
    struct scanned {
        std::size_t row;
        double base;        // distance minus reduced cost
        std::size_t closed; // how many columns had been when it was scanned; the last is the row's
    };

    static std::size_t padded(std::size_t n) { return (n + block - 1) / block * block; }

    // The smallest distance of an open column.
    double relax(std::size_t i, double base) {
        ++scans_;
        scanned_.push_back({i, base, closed_.size()});
        return with_widest_vectors([&]() PLAIT_ALWAYS_INLINE { return relax_row(i, base); });
    }

    PLAIT_ALWAYS_INLINE double relax_row(std::size_t i, double base) {
        constexpr std::size_t width = lanes<double>;
        const std::size_t n = state_.cols();
        const T* c = state_.cost().row(i).data();
        pack<double> nearest;
        fill(nearest, infinity);
        const std::size_t whole = n / block * block;
        for (std::size_t b = 0; b < whole; b += block) {
            pack<double> least;
            for (std::size_t k = 0; k < depth; ++k) {
                const std::size_t j = b + k * width;
                pack<double> x;
                pack<double> price;
                pack<double> old;
                load_doubles(x, c + j);
                load(price, prices_.data() + j);
                load(old, distance_.data() + j);
                x = base + (x - price);
                minimize<double>(x, old);
                store<double>(distance_.data() + j, x);
                if (k == 0)
                    least = x;
                else
                    minimize<double>(least, x);
            }
            store<double>(cells_.data() + b / depth, least);
            minimize<double>(nearest, least);
        }
        double smallest = infinity;
        for (std::size_t k = 0; k < width; ++k) smallest = std::min(smallest, nearest[k]);
        for (std::size_t j = whole; j < n; ++j) {
            distance_[j] = std::min(distance_[j], base + (static_cast<double>(c[j]) - prices_[j]));
            smallest = std::min(smallest, distance_[j]);
        }
        return smallest;
    }

    // relax() without anything nearer.
    double nearest() const {
        const std::size_t whole = state_.cols() / block * block;
        double smallest = infinity;
        for (std::size_t cell = 0; cell < whole / depth; ++cell) smallest = std::min(smallest, cells_[cell]);
        for (std::size_t j = whole; j < state_.cols(); ++j) smallest = std::min(smallest, distance_[j]);
        return smallest;
    }

    // The first column at that distance.
    std::size_t column_at(double distance) const {
        constexpr std::size_t width = lanes<double>;
        const std::size_t whole = state_.cols() / block * block;
        std::size_t found = state_.cols();
        for (std::size_t cell = 0; cell < whole / depth; cell += width) {
            for (std::size_t lane = 0; lane < width; ++lane) {
                if (cells_[cell + lane] != distance) continue;
                for (std::size_t k = 0; k < depth; ++k) {
                    const std::size_t j = cell * depth + k * width + lane;
                    if (distance_[j] == distance) found = std::min(found, j);
                }
            }
            if (found < state_.cols()) return found;
        }
        return static_cast<std::size_t>(
            std::find(distance_.begin() + static_cast<std::ptrdiff_t>(whole), distance_.end(), distance)
            - distance_.begin());
    }

    void refresh_cell(std::size_t j) {
        constexpr std::size_t width = lanes<double>;
        if (j >= state_.cols() / block * block) return;
        const std::size_t first = j / block * block + j % width;
        double least = infinity;
        for (std::size_t k = 0; k < depth; ++k) least = std::min(least, distance_[first + k * width]);
        cells_[j / block * width + j % width] = least;
    }

    void flip(closed end) {
        for (;;) {
            const scanned& from = last_to_reach(end);
            if (from.closed > 0) state_.release(from.row);
            state_.match(from.row, end.column, static_cast<double>(state_.cost()(from.row, end.column)));
            if (from.closed == 0) return; // where the search began
            end = closed_[from.closed - 1];
        }
    }

    // The row from which the column was reached: the last whose sum is its distance. Keeping it for every column as
    // the search goes would cost more than finding it for the few on the path.
    const scanned& last_to_reach(const closed& end) const {
        std::size_t k = end.scanned - 1;
        const auto reaches = [&](const scanned& s) {
            return s.base + state_.reduced(end.column, state_.cost()(s.row, end.column)) == end.distance;
        };
        while (!reaches(scanned_[k])) --k;
        return scanned_[k];
    }

    priced_assignment<T>& state_;
    std::vector<double> prices_; // minus infinity for closed columns
    std::vector<double> distance_;
    std::vector<double> cells_; // smallest distances of the lanes of each block
    std::vector<index> free_columns_;
    std::vector<closed> closed_;
    std::vector<scanned> scanned_;
    std::size_t scans_ = 0;
};

} // namespace plait::detail
