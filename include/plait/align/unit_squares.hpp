#pragma once

#include <plait/core/gathered_view.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace plait::detail {

/// Adds the squares of every unit's elements to sums[unit]. The view's elements are nested (..., unit, inner).
inline void add_unit_squares(const gathered_view& elements, std::size_t inner, std::span<double> sums) {
    constexpr std::size_t block = 8192;
    std::vector<double> x(std::min(block, elements.size()));
    for (std::size_t first = 0; first < elements.size(); first += block) {
        const std::size_t n = std::min(block, elements.size() - first);
        elements.read(first, n, x.data());
        for (std::size_t k = 0; k < n;) {
            const std::size_t unit = (first + k) / inner % sums.size();
            const std::size_t stop = k + std::min(n - k, inner == 1 ? sums.size() - unit : inner - (first + k) % inner);
            for (std::size_t u = unit; k < stop; ++k, u += inner == 1) sums[u] += x[k] * x[k];
        }
    }
}

} // namespace plait::detail
