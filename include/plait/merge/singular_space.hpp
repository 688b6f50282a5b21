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

inline singular_values svd(const matrix& a) {
    const std::size_t rank = std::min(a.rows, a.cols);
    singular_values result{matrix(a.rows, rank), std::vector<double>(rank), matrix(rank, a.cols)};
    plait::svd(a.view(), result.u.view(), result.s, result.vt.view());
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
        const std::size_t n = strength_.size();
        matrix product(rows_, cols_);
        if (n == 0) return product;
        const matrix left = nearest_orthonormal(left_, n, rows_);
        matrix right = nearest_orthonormal(right_, n, cols_);
        for (std::size_t d = 0; d < n; ++d)
            for (std::size_t j = 0; j < cols_; ++j) right(d, j) *= strength_[d];
        multiply_add<double>(op::transposed, left.view(), op::plain, std::as_const(right).view(), product.view());
        return product;
    }

private:
    // Of n directions as rows: their polar factor.
    static matrix nearest_orthonormal(const std::vector<double>& directions, std::size_t n, std::size_t length) {
        matrix rows(n, length);
        rows.data = directions;
        const singular_values parts = svd(rows);
        matrix result(n, length);
        multiply_add<double>(op::plain, parts.u.view(), op::plain, parts.vt.view(), result.view());
        return result;
    }

    std::size_t rows_, cols_;
    std::vector<double> left_, right_, strength_; // direction after direction
};

} // namespace plait::detail
