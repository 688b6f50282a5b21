#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/linalg/backend.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace plait {

/// A tensor unfolded along one of its levels: n units by everything else. It is never materialised as a whole.
template <std::floating_point F>
class unfolding {
public:
    /// `unit` is the level that becomes the rows; a level in the fastest memory becomes the columns instead, so that
    /// reading stays sequential. Two unfoldings multiply when they agree in `unit` and in the other extents.
    unfolding(dtype type, const std::byte* data, std::vector<axis_level> levels, std::size_t unit, bool unit_is_last)
        : units_(levels[unit].extent),
          unit_is_last_(unit_is_last),
          view_(type, data, moved(levels, unit, unit_is_last)) {}

    std::size_t units() const { return units_; }
    std::size_t others() const { return units_ ? view_.size() / units_ : 0; }
    bool unit_is_last() const { return unit_is_last_; }

    /// Others [first, first + count), as a matrix of units x count, or of count x units when the unit comes last.
    /// It lies in memory where it can, otherwise in `buffer` of units() * count elements.
    matrix_view<const F> panel(std::size_t first, std::size_t count, F* buffer) const {
        const F* memory = view_.template in_place<F>();
        if (unit_is_last_) {
            if (memory) return {memory + first * units_, count, units_};
            view_.read(first * units_, count * units_, buffer);
            return {buffer, count, units_};
        }
        if (memory) return {memory + first, units_, count, others()};
        if (count == others())
            view_.read(0, units_ * count, buffer);
        else
            for (std::size_t i = 0; i < units_; ++i) view_.read(i * others() + first, count, buffer + i * count);
        return {buffer, units_, count};
    }

private:
    static std::vector<axis_level> moved(std::vector<axis_level> levels, std::size_t unit, bool to_back) {
        const auto it = levels.begin() + static_cast<std::ptrdiff_t>(unit);
        if (to_back)
            std::rotate(it, it + 1, levels.end());
        else
            std::rotate(levels.begin(), it, it + 1);
        return levels;
    }

    std::size_t units_;
    bool unit_is_last_;
    gathered_view view_;
};

/// C += A B^T over everything but the units: c(i, j) is the product of unit i of A with unit j of B.
/// Throws shape_error when the extents do not fit. Complexity: one GEMM of units^2 * others, panels of about 2^20
/// elements.
template <std::floating_point F>
void add_gram(const unfolding<F>& a, const unfolding<F>& b, matrix_view<F> c, std::size_t threads) {
    if (a.units() == 0 || b.units() == 0) return;
    if (a.others() != b.others() || a.unit_is_last() != b.unit_is_last())
        throw shape_error("unfoldings of " + std::to_string(a.others()) + " and " + std::to_string(b.others())
                          + " other elements do not multiply");
    constexpr std::size_t panel_elements = std::size_t{1} << 20;
    const std::size_t widest = std::max(a.units(), b.units());
    const std::size_t step = std::min(a.others(), std::max<std::size_t>(64, panel_elements / widest));
    const auto buffer = std::make_unique_for_overwrite<F[]>(step * (a.units() + b.units()));
    const op op_a = a.unit_is_last() ? op::transposed : op::plain;
    const op op_b = a.unit_is_last() ? op::plain : op::transposed;
    for (std::size_t first = 0; first < a.others(); first += step) {
        const std::size_t count = std::min(step, a.others() - first);
        multiply_add(op_a, a.panel(first, count, buffer.get()), op_b,
                     b.panel(first, count, buffer.get() + step * a.units()), c, threads);
    }
}

} // namespace plait
