#include "trainer/detail/gemm.hpp"

#include <xtensor-blas/xblas.hpp>

namespace trainer::detail {

namespace {

cxxblas::Transpose blas_op(op o) { return o == op::plain ? cxxblas::NoTrans : cxxblas::Trans; }

} // namespace

void multiply(product_shape shape, op a_op, const float* a, op b_op, const float* b, float* out,
              store mode) {
    const int rows = static_cast<int>(shape.rows);
    const int columns = static_cast<int>(shape.columns);
    const int inner = static_cast<int>(shape.inner);
    const int a_stride = a_op == op::plain ? inner : rows;
    const int b_stride = b_op == op::plain ? columns : inner;
    const float keep = mode == store::add ? 1.0F : 0.0F;
    cxxblas::gemm(cxxblas::RowMajor, blas_op(a_op), blas_op(b_op), rows, columns, inner, 1.0F, a,
                  a_stride, b, b_stride, keep, out, columns);
}

} // namespace trainer::detail
