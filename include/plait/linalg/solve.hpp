#pragma once

#include <plait/core/matrix_view.hpp>
#include <plait/linalg/backend.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

namespace plait {

/// Overwrites B (m x n) with X of X A = B, A symmetric and positive definite (n x n), by Cholesky's factors, which
/// overwrite A. Both dense and row-major. False where A is singular to working precision; B is then unchanged.
/// Throws shape_error when the extents do not fit.   Complexity: O(n^3 + m n^2).
inline bool solve_right(matrix_view<double> a, matrix_view<double> b) {
    const std::size_t n = a.rows();
    if (a.cols() != n || b.cols() != n || a.ld() != n || b.ld() != n)
        throw shape_error("a system of " + std::to_string(a.rows()) + " x " + std::to_string(a.cols())
                          + " and right sides of " + std::to_string(b.cols()) + " columns do not fit, expected dense "
                          + "ones of equal extents");
    if (n == 0) return true;
    const int order = detail::blas_extent(n);
    const detail::single_threaded_blas guard;
    if (cxxlapack::potrf<int>('U', order, a.data(), order) != 0) return false;
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        least = std::min(least, a(i, i));
        most = std::max(most, a(i, i));
    }
    // Squared, their ratio is an upper bound of the reciprocal condition number.
    const double ratio = least / most;
    if (!(ratio * ratio > static_cast<double>(n) * std::numeric_limits<double>::epsilon())) return false;
    // Read by columns, B is its transposed: A X^T = B^T.
    cxxlapack::potrs<int>('U', order, detail::blas_extent(b.rows()), a.data(), order, b.data(), order);
    return true;
}

} // namespace plait
