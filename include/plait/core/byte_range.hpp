#pragma once

#include <plait/core/tensor_view.hpp>

#include <cstddef>
#include <cstdint>

namespace plait::detail {

/// The bytes that a view may touch: [begin, end).
struct byte_range {
    std::uintptr_t begin;
    std::uintptr_t end;

    explicit byte_range(const any_tensor_view& v) : begin(reinterpret_cast<std::uintptr_t>(v.bytes())), end(begin) {
        if (v.size() == 0) return;
        if (bits(v.type()) % 8) {
            end += v.size_bytes();
            return;
        }
        const auto width = static_cast<std::ptrdiff_t>(bits(v.type()) / 8);
        for (std::size_t axis = 0; axis < v.shape().rank(); ++axis) {
            const std::ptrdiff_t reach = static_cast<std::ptrdiff_t>(v.shape()[axis] - 1) * v.strides()[axis] * width;
            (reach < 0 ? begin : end) += static_cast<std::uintptr_t>(reach);
        }
        end += static_cast<std::uintptr_t>(width);
    }
};

} // namespace plait::detail
