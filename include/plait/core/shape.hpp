#pragma once

#include <plait/core/error.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

template <std::integral I>
std::size_t extent_of(I i) {
    if (std::in_range<std::size_t>(i)) return static_cast<std::size_t>(i);
    throw shape_error("an extent is " + std::to_string(i) + ", expected 0 or more");
}

/// a * b. Throws shape_error when it does not fit; `what` names the product.
inline std::size_t checked_product(std::size_t a, std::size_t b, const char* what) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product))
        throw shape_error(std::string(what) + " does not fit 64 bits: " + std::to_string(a) + " times "
                          + std::to_string(b));
    return product;
}

} // namespace detail

/// The extents of a tensor, outermost first. Rank 0 is a scalar with one element.
class shape {
public:
    shape() = default;

    /// Any mixture of integer types: {rows, v.size()}. Throws shape_error on a negative extent.
    template <std::integral... I>
    shape(I... extents) : extents_{detail::extent_of(extents)...} {}

    explicit shape(std::span<const std::size_t> extents) : extents_(extents.begin(), extents.end()) {}
    explicit shape(std::vector<std::size_t> extents) : extents_(std::move(extents)) {}

    std::size_t rank() const { return extents_.size(); }
    std::size_t operator[](std::size_t axis) const { return extents_[axis]; }
    auto begin() const { return extents_.begin(); }
    auto end() const { return extents_.end(); }

    /// Number of elements, multiplied from the left. Throws shape_error when it does not fit.
    std::size_t size() const {
        std::size_t n = 1;
        for (std::size_t e : extents_) n = detail::checked_product(n, e, "the number of elements");
        return n;
    }

    bool operator==(const shape&) const = default;

private:
    std::vector<std::size_t> extents_;
};

/// "[512, 784]"
inline std::string to_string(const shape& s) {
    std::string text = "[";
    for (std::size_t i = 0; i < s.rank(); ++i) text += (i ? ", " : "") + std::to_string(s[i]);
    return text + "]";
}

/// Distances between neighbours along each axis, in elements; may be negative or zero.
class strides {
public:
    strides() = default;
    template <std::integral... I>
    strides(I... s) : strides_{static_cast<std::ptrdiff_t>(s)...} {}
    explicit strides(std::vector<std::ptrdiff_t> s) : strides_(std::move(s)) {}

    /// The strides of a dense tensor whose last axis is the fastest.
    static strides row_major(const shape& s) {
        std::vector<std::ptrdiff_t> result(s.rank());
        std::size_t step = 1;
        for (std::size_t axis = s.rank(); axis-- > 0;) {
            result[axis] = static_cast<std::ptrdiff_t>(step);
            step *= s[axis] ? s[axis] : 1;
        }
        return strides(std::move(result));
    }

    std::size_t rank() const { return strides_.size(); }
    std::ptrdiff_t operator[](std::size_t axis) const { return strides_[axis]; }
    auto begin() const { return strides_.begin(); }
    auto end() const { return strides_.end(); }
    bool operator==(const strides&) const = default;

private:
    std::vector<std::ptrdiff_t> strides_;
};

} // namespace plait
