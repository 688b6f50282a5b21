#pragma once

#include <plait/linalg/svd.hpp>
#include <plait/merge/whole_matrix.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace plait::detail {

struct singular_values {
    matrix u;              ///< rows x rank, columns are left directions
    std::vector<double> s; ///< largest first
    matrix vt;             ///< rank x cols
};

inline singular_values svd(matrix_view<const double> a) {
    const std::size_t rank = std::min(a.rows(), a.cols());
    singular_values result{matrix(a.rows(), rank), std::vector<double>(rank), matrix(rank, a.cols())};
    plait::svd(a, result.u.view(), result.s, result.vt.view());
    return result;
}

/// Directions with their strengths from several decompositions, which are made orthogonal together.
class singular_space {
public:
    singular_space(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols) {}

    /// The strongest `count`.
    void append(const singular_values& from, std::size_t count) {
        for (std::size_t d = 0; d < count; ++d) {
            for (std::size_t i = 0; i < rows_; ++i) left_.push_back(from.u(i, d));
            for (std::size_t j = 0; j < cols_; ++j) right_.push_back(from.vt(d, j));
            strength_.push_back(from.s[d]);
        }
    }

    /// Gives every direction the mean strength.
    void equalize() {
        const double sum = std::accumulate(strength_.begin(), strength_.end(), 0.0);
        for (double& s : strength_) s = sum / static_cast<double>(strength_.size());
    }

    /// U S V^T, with U and V the nearest to the directions that are orthonormal.
    matrix whitened_product() const {
        return product(nearest_orthonormal(left_, rows_), nearest_orthonormal(right_, cols_));
    }

    /// The same for directions that are orthonormal: all from one decomposition.
    matrix product() const { return product(rows_of(left_, rows_), rows_of(right_, cols_)); }

private:
    // Directions as rows.
    matrix rows_of(const std::vector<double>& directions, std::size_t length) const {
        matrix rows(strength_.size(), length);
        rows.data = directions;
        return rows;
    }

    // Their polar factor.
    matrix nearest_orthonormal(const std::vector<double>& directions, std::size_t length) const {
        const matrix rows = rows_of(directions, length);
        const singular_values parts = svd(rows.view());
        matrix result(rows.rows, length);
        multiply_add<double>(op::plain, parts.u.view(), op::plain, parts.vt.view(), result.view());
        return result;
    }

    matrix product(const matrix& left, matrix right) const {
        matrix result(rows_, cols_);
        for (std::size_t d = 0; d < strength_.size(); ++d)
            for (std::size_t j = 0; j < cols_; ++j) right(d, j) *= strength_[d];
        multiply_add<double>(op::transposed, left.view(), op::plain, std::as_const(right).view(), result.view());
        return result;
    }

    std::size_t rows_, cols_;
    std::vector<double> left_, right_, strength_; // direction after direction
};

} // namespace plait::detail
