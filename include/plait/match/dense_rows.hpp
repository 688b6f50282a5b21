#pragma once

#include <plait/core/simd.hpp>
#include <plait/match/priced_assignment.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace plait::detail {

/// The two smallest reduced costs of rows, found by looking at all of them: what candidate lists do in less time where
/// there are many columns and few ties.
template <std::floating_point T>
class dense_rows {
public:
    explicit dense_rows(const priced_assignment<T>& state) : state_(state), reduced_(state.cols()) {}

    std::size_t scans() const { return scans_; }

    two_best<T> best(std::size_t i) {
        ++scans_;
        constexpr std::size_t width = lanes<double>;
        const std::size_t n = state_.cols();
        const T* c = state_.cost().row(i).data();
        const double* v = state_.prices();
        pack<double> first;
        fill(first, std::numeric_limits<double>::infinity());
        pack<double> second = first;
        std::size_t j = 0;
        for (; j + width <= n; j += width) {
            pack<double> x;
            pack<double> price;
            load_doubles(x, c + j);
            load(price, v + j);
            x -= price;
            store<double>(reduced_.data() + j, x);
            const pack<double> larger = x < first ? first : x;
            minimize<double>(first, x);
            minimize<double>(second, larger);
        }
        two_best<T> b;
        const auto take = [&](double x) {
            b.second = std::min(b.second, std::max(b.first, x));
            b.first = std::min(b.first, x);
        };
        for (; j < n; ++j) take(reduced_[j] = state_.reduced(j, c[j]));
        for (std::size_t k = 0; k < width; ++k) {
            take(first[k]);
            take(second[k]);
        }
        b.column = column_at(b.first, b.second);
        b.cost = c[b.column];
        return b;
    }

    /// The smallest reduced cost of a row.
    double least(std::size_t i) const {
        constexpr std::size_t width = lanes<double>;
        const std::size_t n = state_.cols();
        const T* c = state_.cost().row(i).data();
        const double* v = state_.prices();
        pack<double> smallest;
        fill(smallest, std::numeric_limits<double>::infinity());
        std::size_t j = 0;
        for (; j + width <= n; j += width) {
            pack<double> x;
            pack<double> price;
            load_doubles(x, c + j);
            load(price, v + j);
            x -= price;
            minimize<double>(smallest, x);
        }
        double found = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < width; ++k) found = std::min(found, smallest[k]);
        for (; j < n; ++j) found = std::min(found, state_.reduced(j, c[j]));
        return found;
    }

private:
    // The first column with that reduced cost, the first free one if there is one.
    std::uint32_t column_at(double reduced, double second) const {
        const auto begin = reduced_.begin();
        const auto first = std::find(begin, reduced_.end(), reduced);
        if (second == reduced)
            for (auto at = first; at != reduced_.end(); at = std::find(at + 1, reduced_.end(), reduced))
                if (state_.is_free(static_cast<std::size_t>(at - begin))) return static_cast<std::uint32_t>(at - begin);
        return static_cast<std::uint32_t>(first - begin);
    }

    const priced_assignment<T>& state_;
    std::vector<double> reduced_;
    std::size_t scans_ = 0;
};

} // namespace plait::detail
