#pragma once

#include <plait/core/shape.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

namespace plait {

/// A row-major matrix in memory that somebody else owns; `ld` elements lie between the starts of two rows.
/// Throws shape_error when ld < cols, or when there are elements but no memory.
template <class T>
class matrix_view {
public:
    template <std::integral Rows, std::integral Cols>
    matrix_view(T* data, Rows rows, Cols cols) : matrix_view(data, rows, cols, cols) {}

    template <std::integral Rows, std::integral Cols, std::integral Ld>
    matrix_view(T* data, Rows rows, Cols cols, Ld ld)
        : data_(data), rows_(detail::extent_of(rows)), cols_(detail::extent_of(cols)), ld_(detail::extent_of(ld)) {
        if (rows_ > 1 && ld_ < cols_)
            throw shape_error("a leading dimension is " + std::to_string(ld_) + ", expected at least "
                              + std::to_string(cols_) + " columns");
        if (!data_ && rows_ && cols_) throw shape_error("a matrix view has no memory (null pointer)");
    }

    operator matrix_view<const T>() const requires(!std::is_const_v<T>) { return {data_, rows_, cols_, ld_}; }

    T* data() const { return data_; }
    std::size_t rows() const { return rows_; }
    std::size_t cols() const { return cols_; }
    std::size_t ld() const { return ld_; }
    T& operator()(std::size_t i, std::size_t j) const { return data_[i * ld_ + j]; }
    std::span<T> row(std::size_t i) const { return {data_ + i * ld_, cols_}; }

private:
    T* data_;
    std::size_t rows_;
    std::size_t cols_;
    std::size_t ld_;
};

} // namespace plait
