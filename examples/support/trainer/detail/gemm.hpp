#pragma once

#include <cstddef>

namespace trainer::detail {

enum class op { plain, transposed };

/// The product is [rows, columns]; `inner` is the axis summed over.
struct product_shape {
    std::size_t rows;
    std::size_t columns;
    std::size_t inner;
};

enum class store { replace, add };

/// out = op(a) op(b), or out += op(a) op(b), for dense row-major matrices.
void multiply(product_shape shape, op a_op, const float* a, op b_op, const float* b, float* out,
              store mode = store::replace);

} // namespace trainer::detail
