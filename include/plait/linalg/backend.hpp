#pragma once

// The one header that includes BLAS and LAPACK: OpenBLAS or others, through the C++ front end of xtensor-blas.
#include <plait/core/error.hpp>
#include <plait/core/matrix_view.hpp>
#include <plait/core/parallel.hpp>

#include <xtensor-blas/xblas.hpp>
#include <xtensor-blas/xlapack.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <mutex>
#include <string>

// Of OpenBLAS alone; null with any other BLAS.
extern "C" {
[[gnu::weak]] void openblas_set_num_threads(int);
[[gnu::weak]] int openblas_get_num_threads();
}

namespace plait {
namespace detail {

/// While one lives, OpenBLAS works on the calling thread, so that its sums do not depend on the machine and threads of
/// plait do not compete with threads of OpenBLAS. The former setting returns with the last of them.
class single_threaded_blas {
public:
    single_threaded_blas() {
        const std::lock_guard lock(mutex);
        if (users++ == 0 && openblas_get_num_threads && openblas_set_num_threads) {
            former = openblas_get_num_threads();
            openblas_set_num_threads(1);
        }
    }
    ~single_threaded_blas() {
        const std::lock_guard lock(mutex);
        if (--users == 0 && openblas_get_num_threads && openblas_set_num_threads) openblas_set_num_threads(former);
    }
    single_threaded_blas(const single_threaded_blas&) = delete;
    single_threaded_blas& operator=(const single_threaded_blas&) = delete;

private:
    inline static std::mutex mutex;
    inline static int users = 0;
    inline static int former = 1;
};

inline int blas_extent(std::size_t n) {
    if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw shape_error("a matrix of " + std::to_string(n) + " rows, columns or leading elements, expected at most "
                          + std::to_string(std::numeric_limits<int>::max()) + " for BLAS");
    return static_cast<int>(n);
}

} // namespace detail

/// Whether a factor of a product is taken as it is or transposed.
enum class op { plain, transposed };

/// C += op(A) op(B), all row-major; C is m x n, op(A) is m x k, op(B) is k x n; nothing happens when k is 0.
///
/// The work is split into bands of rows that do not depend on `threads`, so neither do the bits of the result.
/// Throws shape_error when the extents do not fit, or exceed the int of BLAS. Complexity: 2 m n k operations.
template <std::floating_point T>
void multiply_add(op op_a, matrix_view<const T> a, op op_b, matrix_view<const T> b, matrix_view<T> c,
                  std::size_t threads = 1) {
    const bool ta = op_a == op::transposed;
    const bool tb = op_b == op::transposed;
    const std::size_t m = ta ? a.cols() : a.rows();
    const std::size_t k = ta ? a.rows() : a.cols();
    const std::size_t n = tb ? b.rows() : b.cols();
    if ((tb ? b.cols() : b.rows()) != k || c.rows() != m || c.cols() != n)
        throw shape_error("a product of " + std::to_string(m) + " x " + std::to_string(k) + " and "
                          + std::to_string(tb ? b.cols() : b.rows()) + " x " + std::to_string(n) + " into "
                          + std::to_string(c.rows()) + " x " + std::to_string(c.cols()) + " does not fit");
    if (m == 0 || n == 0 || k == 0) return;
    const auto transpose = [](bool t) { return t ? cxxblas::Trans : cxxblas::NoTrans; };
    const int columns = detail::blas_extent(n);
    const int depth = detail::blas_extent(k);
    const int lda = detail::blas_extent(std::max(a.ld(), a.cols()));
    const int ldb = detail::blas_extent(std::max(b.ld(), b.cols()));
    const int ldc = detail::blas_extent(std::max(c.ld(), n));

    constexpr std::size_t band = 512;
    const detail::single_threaded_blas guard;
    parallel_for((m + band - 1) / band, threads, [&](std::size_t i) {
        const std::size_t first = i * band;
        const int rows = static_cast<int>(std::min(band, m - first));
        const T* top = a.data() + first * (ta ? 1 : a.ld());
        cxxblas::gemm<int>(cxxblas::RowMajor, transpose(ta), transpose(tb), rows, columns, depth, T{1}, top, lda,
                           b.data(), ldb, T{1}, c.data() + first * c.ld(), ldc);
    });
}

} // namespace plait
