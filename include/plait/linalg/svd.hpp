#pragma once

#include <plait/core/matrix_view.hpp>
#include <plait/linalg/backend.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace plait {

/// A = U diag(s) V^T: A is m x n, U m x r, V^T r x n, with r the smaller of m and n; s falls. All dense and row-major.
/// Throws shape_error when the extents do not fit, value_error when A is not finite or LAPACK does not converge.
/// Complexity: O(m n r).
inline void svd(matrix_view<const double> a, matrix_view<double> u, std::span<double> s, matrix_view<double> vt) {
    const std::size_t m = a.rows();
    const std::size_t n = a.cols();
    const std::size_t r = std::min(m, n);
    if (u.rows() != m || u.cols() != r || s.size() != r || vt.rows() != r || vt.cols() != n || u.ld() != r
        || vt.ld() != n)
        throw shape_error("the factors of a matrix of " + std::to_string(m) + " x " + std::to_string(n)
                          + " do not fit it, expected dense ones of rank " + std::to_string(r));
    if (r == 0) return;
    std::vector<double> copy; // LAPACK overwrites it; read by columns it is the transposed matrix
    copy.reserve(m * n);
    for (std::size_t i = 0; i < m; ++i) copy.insert(copy.end(), a.row(i).begin(), a.row(i).end());
    if (!std::ranges::all_of(copy, [](double x) { return x - x == 0; }))
        throw value_error("a matrix to decompose has NaN or infinity, expected finite numbers");

    const int rows = detail::blas_extent(n);
    const int cols = detail::blas_extent(m);
    const int rank = detail::blas_extent(r);
    std::vector<int> integers(8 * r);
    const detail::single_threaded_blas guard;
    // A^T = V diag(s) U^T
    const auto call = [&](double* work, int size) {
        return cxxlapack::gesdd<int>('S', rows, cols, copy.data(), rows, s.data(), vt.data(), rows, u.data(), rank,
                                     work, size, integers.data());
    };
    double wanted = 0;
    call(&wanted, -1);
    std::vector<double> work(static_cast<std::size_t>(wanted));
    if (call(work.data(), detail::blas_extent(work.size())) != 0)
        throw value_error("the singular values of a matrix of " + std::to_string(m) + " x " + std::to_string(n)
                          + " were not found (LAPACK gesdd did not converge)");
}

} // namespace plait
