#pragma once

#include <plait/core/dtype.hpp>
#include <plait/core/shape.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

namespace plait {

/// How another library's container is seen as a tensor: specialise it with static functions data(c), shape(c) and
/// strides(c) (in elements). <plait/adapters/xtensor.hpp> does so for xtensor.
template <class Container>
struct tensor_adapter;

template <class C>
concept adapted_container = requires(C& c) {
    {tensor_adapter<std::remove_const_t<C>>::data(c)};
    { tensor_adapter<std::remove_const_t<C>>::shape(c) } -> std::same_as<shape>;
    { tensor_adapter<std::remove_const_t<C>>::strides(c) } -> std::same_as<strides>;
};

namespace detail {

template <adapted_container C>
using element_of = std::remove_pointer_t<decltype(tensor_adapter<std::remove_const_t<C>>::data(std::declval<C&>()))>;

inline void check_view(const void* data, const shape& s, const strides& st) {
    if (s.rank() != st.rank())
        throw shape_error("a view of shape " + to_string(s) + " has " + std::to_string(st.rank())
                          + " strides, expected " + std::to_string(s.rank()));
    if (!data && s.size() != 0) throw shape_error("a view of shape " + to_string(s) + " has no memory (null pointer)");
}

/// Throws shape_error when the size does not fit, or packed elements end inside a byte.
inline std::size_t byte_count(dtype d, const shape& s) {
    const std::size_t total = checked_product(s.size(), bits(d), "the number of bits");
    if (total % 8 != 0)
        throw shape_error("shape " + to_string(s) + " of " + std::string(name(d)) + " ends inside a byte");
    return total / 8;
}

inline bool is_row_major(const shape& s, const strides& st) {
    if (std::ranges::find(s, std::size_t{0}) != s.end()) return true;
    std::size_t step = 1;
    for (std::size_t axis = s.rank(); axis-- > 0;) {
        if (s[axis] != 1 && st[axis] != static_cast<std::ptrdiff_t>(step)) return false;
        step *= s[axis];
    }
    return true;
}

} // namespace detail

/// A typed tensor in memory that somebody else owns: pointer, extents, strides in elements.
///
/// Throws shape_error when strides and extents disagree in rank, or a container has another size than the shape.
///     tensor_view{w, {512, 784}}               // row-major
///     tensor_view{w, {512, 784}, {1, 512}}     // the same matrix stored column by column
template <element T>
class tensor_view {
public:
    using value_type = T;

    template <std::convertible_to<T*> Pointer> // not an array, whose size is checked below
        requires std::is_pointer_v<std::remove_cvref_t<Pointer>> || std::is_null_pointer_v<std::remove_cvref_t<Pointer>>
        tensor_view(Pointer&& data, plait::shape s) : tensor_view(static_cast<T*>(data), s, strides::row_major(s)) {}

        tensor_view(T* data, plait::shape s, plait::strides st)
            : data_(data), shape_(std::move(s)), strides_(std::move(st)) {
            detail::check_view(data_, shape_, strides_);
        }

        /// A row-major view of a whole contiguous range that outlives the view: a vector lvalue, a span.
        template <std::ranges::contiguous_range R>
            requires std::ranges::borrowed_range<R> &&(!adapted_container<std::remove_reference_t<R>>)&&std::
                convertible_to<std::remove_reference_t<std::ranges::range_reference_t<R>> (*)[], T (*)[]> tensor_view(
                    R&& r, plait::shape s)
                : tensor_view(std::ranges::data(r), std::move(s)) {
                if (std::ranges::size(r) != shape_.size())
                    throw shape_error("a container of " + std::to_string(std::ranges::size(r)) + " elements, expected "
                                      + std::to_string(shape_.size()) + " for shape " + to_string(shape_));
            }

            /// A view of a container that tensor_adapter knows.
            template <adapted_container C>
                requires std::convertible_to < detail::element_of<C>
            *, T* > tensor_view(C& c)
                : tensor_view(tensor_adapter<std::remove_const_t<C>>::data(c),
                              tensor_adapter<std::remove_const_t<C>>::shape(c),
                              tensor_adapter<std::remove_const_t<C>>::strides(c)) {}

            operator tensor_view<const T>() const requires(!std::is_const_v<T>) { return {data_, shape_, strides_}; }

            T* data() const { return data_; }
            const plait::shape& shape() const { return shape_; }
            const plait::strides& strides() const { return strides_; }
            std::size_t rank() const { return shape_.rank(); }
            std::size_t size() const { return shape_.size(); }
            bool is_row_major() const { return detail::is_row_major(shape_, strides_); }

            /// The element at the given indices, one per axis, unchecked.
            template <std::integral... I>
            T& operator()(I... index) const {
                std::ptrdiff_t offset = 0;
                std::size_t axis = 0;
                ((offset += static_cast<std::ptrdiff_t>(index) * strides_[axis++]), ...);
                return data_[offset];
            }

        private:
            T* data_;
            plait::shape shape_;
            plait::strides strides_;
};
template <class T>
tensor_view(T*, shape) -> tensor_view<T>;
template <class T>
tensor_view(T*, shape, strides) -> tensor_view<T>;
template <std::ranges::contiguous_range R>
tensor_view(R&&, shape) -> tensor_view<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
template <adapted_container C>
tensor_view(C& c) -> tensor_view<detail::element_of<C>>;

/// A tensor whose element type is known at run time. Byte is const std::byte (read) or std::byte (write).
///
/// The bytes may be misaligned for their dtype, as in files. Elements of less than 8 bits are packed and row-major.
template <class Byte>
    requires std::same_as<std::remove_const_t<Byte>, std::byte>
class basic_any_tensor_view {
public:
    basic_any_tensor_view(dtype d, Byte* data, plait::shape s)
        : basic_any_tensor_view(d, data, s, strides::row_major(s)) {}

    basic_any_tensor_view(dtype d, Byte* data, plait::shape s, plait::strides st)
        : data_(data), shape_(std::move(s)), strides_(std::move(st)), dtype_(d) {
        detail::check_view(data_, shape_, strides_);
        if (bits(d) % 8 != 0 && !is_row_major())
            throw shape_error("a view of " + std::string(name(d)) + " has strides, expected packed elements");
        detail::byte_count(d, shape_);
    }

    template <element T>
        requires std::is_const_v<Byte> ||(!std::is_const_v<T>)basic_any_tensor_view(const tensor_view<T>& v)
            : basic_any_tensor_view(dtype_of<std::remove_const_t<T>>::value, reinterpret_cast<Byte*>(v.data()),
                                    v.shape(), v.strides()) {}

        template <adapted_container C>
            requires element<detail::element_of<C>> &&(std::is_const_v<Byte> || !std::is_const_v<detail::element_of<C>>)
                basic_any_tensor_view(C& c)
                : basic_any_tensor_view(tensor_view{c}) {}

            operator basic_any_tensor_view<const std::byte>() const requires(!std::is_const_v<Byte>) {
                return {dtype_, data_, shape_, strides_};
            }

            plait::dtype type() const { return dtype_; }
            const plait::shape& shape() const { return shape_; }
            const plait::strides& strides() const { return strides_; }
            std::size_t size() const { return shape_.size(); }
            std::size_t size_bytes() const { return shape_.size() * bits(dtype_) / 8; }
            bool is_row_major() const { return detail::is_row_major(shape_, strides_); }

            /// The address of the first element.
            Byte* bytes() const { return data_; }

            /// The typed view. Throws dtype_error when T is not the element type or the memory is not aligned for T.
            template <element T>
                requires std::is_const_v<T> ||(!std::is_const_v<Byte>)tensor_view<T> as() const {
                    constexpr plait::dtype wanted = dtype_of<std::remove_const_t<T>>::value;
                    if (dtype_ != wanted)
                        throw dtype_error("the elements are " + std::string(name(dtype_)) + ", not "
                                          + std::string(name(wanted)));
                    if (reinterpret_cast<std::uintptr_t>(data_) % alignof(T) != 0)
                        throw dtype_error("the memory is not aligned for " + std::string(name(wanted))
                                          + "; copy it before typed access");
                    return {reinterpret_cast<T*>(data_), shape_, strides_};
                }

            private:
                Byte* data_;
                plait::shape shape_;
                plait::strides strides_;
                plait::dtype dtype_;
};
using any_tensor_view = basic_any_tensor_view<const std::byte>;
using mutable_any_tensor_view = basic_any_tensor_view<std::byte>;

} // namespace plait
