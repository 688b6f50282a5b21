#pragma once

#include <plait/core/instruction_set.hpp>
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
        return with_widest_vectors([&]() PLAIT_ALWAYS_INLINE { return best_of(i); });
    }

private:
    PLAIT_ALWAYS_INLINE two_best<T> best_of(std::size_t i) {
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

    // The first column with that reduced cost, the first free one if there is one.
    PLAIT_ALWAYS_INLINE std::uint32_t column_at(double reduced, double second) const {
        const std::size_t first = next_at(0, reduced);
        if (second == reduced)
            for (std::size_t j = first; j < reduced_.size(); j = next_at(j + 1, reduced))
                if (state_.is_free(j)) return static_cast<std::uint32_t>(j);
        return static_cast<std::uint32_t>(first);
    }

    // The first column from `j` on with that reduced cost.
    PLAIT_ALWAYS_INLINE std::size_t next_at(std::size_t j, double reduced) const {
        constexpr std::size_t width = lanes<double>;
        for (; j + width <= reduced_.size(); j += width) {
            pack<double> x;
            load(x, reduced_.data() + j);
            if (any(x == reduced)) break;
        }
        while (j < reduced_.size() && reduced_[j] != reduced) ++j;
        return j;
    }

    const priced_assignment<T>& state_;
    std::vector<double> reduced_;
    std::size_t scans_ = 0;
};

} // namespace plait::detail
