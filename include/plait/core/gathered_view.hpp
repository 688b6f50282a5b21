#pragma once

#include <plait/core/convert.hpp>
#include <plait/core/simd.hpp>
#include <plait/core/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace plait {

/// One loop of the nest that visits a tensor: position i reads element order[i] * stride, times scale[i].
struct axis_level {
    std::size_t extent;
    std::ptrdiff_t stride;              ///< in elements
    const std::size_t* order = nullptr; ///< `extent` positions; null reads in order
    const double* scale = nullptr;      ///< `extent` factors; null multiplies by nothing
};

/// A tensor read through reordered, scaled axes, without ever being materialised. Tables and memory belong to others.
///
/// Logical element i is that of the nest of levels, outermost first. Reading is const and may happen on many threads.
/// Complexity: O(count) per read, sequential wherever the innermost levels are in order.
class gathered_view {
public:
    gathered_view(dtype type, const std::byte* data, const std::vector<axis_level>& levels)
        : data_(data), dtype_(type) {
        for (const axis_level& level : levels) {
            size_ *= level.extent;
            scaled_ = scaled_ || level.scale;
            append(level);
        }
        if (levels_.empty()) levels_.push_back({1, 1});
    }

    /// The view as it is; elements of less than 8 bits are read as the bytes (U8) that they are packed in.
    explicit gathered_view(const any_tensor_view& v) : gathered_view(whole_bytes(v.type()), v.bytes(), levels_of(v)) {}

    std::size_t size() const { return size_; }
    dtype type() const { return dtype_; }
    bool is_scaled() const { return scaled_; }

    /// The memory itself when its elements stand in order and unscaled; otherwise null. It may be misaligned.
    const std::byte* contiguous() const {
        const axis_level& all = levels_[0];
        return levels_.size() == 1 && all.stride == 1 && !all.order && !all.scale ? data_ : nullptr;
    }

    /// The memory itself when it already is what read<F> would deliver; otherwise null.
    template <class F>
    const F* in_place() const {
        const bool plain =
            dtype_ == dtype_of<F>::value && contiguous() && reinterpret_cast<std::uintptr_t>(data_) % alignof(F) == 0;
        return plain ? reinterpret_cast<const F*>(data_) : nullptr;
    }

    /// Writes elements [first, first + count), widened to F, to out. The dtype must be floating.
    template <std::floating_point F>
    void read(std::size_t first, std::size_t count, F* out) const {
        visit_floating(dtype_, [&]<class T>(T) {
            for_each_run(first, count, [&](std::ptrdiff_t offset, std::size_t begin, std::size_t n, double scale) {
                const axis_level& inner = levels_.back();
                if (!inner.order && inner.stride == 1) {
                    const std::byte* from = data_ + (offset + static_cast<std::ptrdiff_t>(begin)) * ssize_of<T>();
                    // Whoever reads a block reads the next one soon, but other tensors in between.
                    detail::prefetch_to_level_2(from + n * sizeof(T), n * sizeof(T));
                    detail::widen<T>(from, n, out);
                } else
                    copy_run<T>(offset, begin, n, [out](std::size_t i, T x) { out[i] = static_cast<F>(x); });
                if (scaled_)
                    for (std::size_t i = 0; i < n; ++i)
                        out[i] = static_cast<F>(out[i] * (inner.scale ? scale * inner.scale[begin + i] : scale));
                out += n;
            });
        });
    }

    /// Writes the bytes of elements [first, first + count), unscaled, to out. Elements must be of whole bytes.
    void copy(std::size_t first, std::size_t count, std::byte* out) const {
        const auto copy_as = [&]<class T>(T) {
            for_each_run(first, count, [&](std::ptrdiff_t offset, std::size_t begin, std::size_t n, double) {
                copy_run<T>(offset, begin, n,
                            [out](std::size_t i, T x) { std::memcpy(out + i * sizeof(T), &x, sizeof(T)); });
                out += n * sizeof(T);
            });
        };
        switch (bits(dtype_)) {
        case 8:
            return copy_as(std::uint8_t{});
        case 16:
            return copy_as(std::uint16_t{});
        case 32:
            return copy_as(std::uint32_t{});
        default:
            return copy_as(std::uint64_t{});
        }
    }

private:
    static dtype whole_bytes(dtype d) { return bits(d) % 8 ? dtype::u8 : d; }

    static std::vector<axis_level> levels_of(const any_tensor_view& v) {
        if (bits(v.type()) % 8) return {{v.size_bytes(), 1}};
        std::vector<axis_level> levels;
        for (std::size_t axis = 0; axis < v.shape().rank(); ++axis)
            levels.push_back({v.shape()[axis], v.strides()[axis]});
        return levels;
    }

    // Neighbouring levels that together walk evenly through memory become one.
    void append(const axis_level& level) {
        if (level.extent == 1 && !level.scale && !level.order) return;
        if (!levels_.empty() && !level.order && !level.scale) {
            axis_level& last = levels_.back();
            std::ptrdiff_t reach = 0;
            const bool even = !__builtin_mul_overflow(level.stride, level.extent, &reach) && last.stride == reach;
            if (!last.order && !last.scale && even) {
                last.extent *= level.extent;
                last.stride = level.stride;
                return;
            }
        }
        levels_.push_back(level);
    }

    template <class T>
    static constexpr std::ptrdiff_t ssize_of() {
        return static_cast<std::ptrdiff_t>(sizeof(T));
    }

    static std::ptrdiff_t offset_of(const axis_level& level, std::size_t i) {
        return static_cast<std::ptrdiff_t>(level.order ? level.order[i] : i) * level.stride;
    }

    // run(offset of the outer levels, first inner position, positions, product of the outer scales)
    template <class Run>
    void for_each_run(std::size_t first, std::size_t count, Run run) const {
        if (count == 0) return;
        const std::size_t inner = levels_.back().extent;
        std::size_t begin = first % inner;
        std::size_t outer = first / inner;
        std::array<std::size_t, 16> few{}; // reads are frequent, and nests hardly ever deeper
        std::vector<std::size_t> many(levels_.size() > few.size() ? levels_.size() : 0);
        const std::span<std::size_t> position = many.empty() ? std::span<std::size_t>(few) : many;
        for (std::size_t k = levels_.size() - 1; k-- > 0; outer /= levels_[k].extent)
            position[k] = outer % levels_[k].extent;
        while (count > 0) {
            std::ptrdiff_t offset = 0;
            double scale = 1;
            for (std::size_t k = 0; k + 1 < levels_.size(); ++k) {
                offset += offset_of(levels_[k], position[k]);
                if (levels_[k].scale) scale *= levels_[k].scale[position[k]];
            }
            const std::size_t n = std::min(count, inner - begin);
            run(offset, begin, n, scale);
            count -= n;
            begin = 0;
            for (std::size_t k = levels_.size() - 1; k-- > 0;) {
                if (++position[k] < levels_[k].extent) break;
                position[k] = 0;
            }
        }
    }

    // store(i, element begin + i of the innermost level); elements may be misaligned
    template <class T, class Store>
    void copy_run(std::ptrdiff_t offset, std::size_t begin, std::size_t n, Store store) const {
        const axis_level& inner = levels_.back();
        const std::byte* base = data_ + offset * ssize_of<T>();
        const auto load = [&](std::ptrdiff_t at) {
            T x;
            std::memcpy(&x, base + at * ssize_of<T>(), sizeof(T));
            return x;
        };
        const auto start = static_cast<std::ptrdiff_t>(begin);
        const auto stop = static_cast<std::ptrdiff_t>(n);
        if (inner.order)
            for (std::size_t i = 0; i < n; ++i) store(i, load(offset_of(inner, begin + i)));
        else if (inner.stride == 1)
            for (std::ptrdiff_t i = 0; i < stop; ++i) store(static_cast<std::size_t>(i), load(start + i));
        else
            for (std::ptrdiff_t i = 0; i < stop; ++i)
                store(static_cast<std::size_t>(i), load((start + i) * inner.stride));
    }

    const std::byte* data_;
    std::vector<axis_level> levels_;
    std::size_t size_ = 1;
    dtype dtype_;
    bool scaled_ = false;
};

} // namespace plait
