#pragma once

#include <plait/core/tensor_view.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace plait {

/// Memory aligned for any element type and for vector loads; its contents start undefined.
class aligned_buffer {
public:
    static constexpr std::size_t alignment = 64;

    aligned_buffer() = default;
    explicit aligned_buffer(std::size_t bytes)
        : bytes_(bytes ? static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment})) : nullptr) {}

    std::byte* data() const { return bytes_.get(); }

private:
    struct release {
        void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{alignment}); }
    };
    std::unique_ptr<std::byte, release> bytes_;
};

/// A row-major tensor that owns its memory; copying copies the elements.
class tensor {
public:
    /// Elements start undefined. Throws shape_error when the size does not fit, or ends inside a byte.
    tensor(dtype d, plait::shape s) : dtype_(d), shape_(std::move(s)), bytes_(detail::byte_count(dtype_, shape_)) {}

    tensor(const tensor& other) : tensor(other.dtype_, other.shape_) {
        if (const std::size_t n = detail::byte_count(dtype_, shape_))
            std::memcpy(bytes_.data(), other.bytes_.data(), n);
    }
    tensor(tensor&&) noexcept = default;
    tensor& operator=(tensor other) noexcept {
        dtype_ = other.dtype_;
        std::swap(shape_, other.shape_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~tensor() = default;

    dtype type() const { return dtype_; }
    const plait::shape& shape() const { return shape_; }
    any_tensor_view view() const { return {dtype_, bytes_.data(), shape_}; }
    mutable_any_tensor_view view() { return {dtype_, bytes_.data(), shape_}; }

private:
    plait::dtype dtype_;
    plait::shape shape_;
    aligned_buffer bytes_;
};

} // namespace plait
