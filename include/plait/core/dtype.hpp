#pragma once

#include <plait/core/error.hpp>
#include <plait/core/float8.hpp>
#include <plait/core/half.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace plait {

/// Element types, in the order of the safetensors format.
enum class dtype : std::uint8_t {
    boolean,
    f4,
    f6_e2m3,
    f6_e3m2,
    u8,
    i8,
    f8_e5m2,
    f8_e4m3,
    f8_e8m0,
    f8_e4m3fnuz,
    f8_e5m2fnuz,
    i16,
    u16,
    f16,
    bf16,
    i32,
    u32,
    f32,
    c64,
    f64,
    i64,
    u64
};

namespace detail {

struct dtype_facts {
    std::string_view name;
    unsigned bits;
};
inline constexpr std::array<dtype_facts, 22> dtype_table{
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
     {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
     {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
     {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}}};

} // namespace detail

/// The name in a safetensors header: "F32", "BF16", ...
constexpr std::string_view name(dtype d) { return detail::dtype_table[static_cast<std::size_t>(d)].name; }

/// Bits of one element; F4 and F6 are packed without gaps.
constexpr unsigned bits(dtype d) { return detail::dtype_table[static_cast<std::size_t>(d)].bits; }

constexpr std::optional<dtype> dtype_from_name(std::string_view s) {
    for (std::size_t i = 0; i < detail::dtype_table.size(); ++i)
        if (detail::dtype_table[i].name == s) return static_cast<dtype>(i);
    return std::nullopt;
}

/// The types that plait does arithmetic on; all others are carried through unchanged. Elements count as they are: where
/// another tensor holds their scale, as it does in some files of F8, they have to be multiplied out first.
constexpr bool is_floating(dtype d) {
    return d == dtype::f64 || d == dtype::f32 || d == dtype::f16 || d == dtype::bf16 || d == dtype::f8_e4m3
           || d == dtype::f8_e5m2;
}

/// C++ type -> dtype. Specialise it for another library's half or bfloat type.
template <class T>
struct dtype_of;
// clang-format off
template <> struct dtype_of<bool>        { static constexpr dtype value = dtype::boolean; };
template <> struct dtype_of<float8_e4m3> { static constexpr dtype value = dtype::f8_e4m3; };
template <> struct dtype_of<float8_e5m2> { static constexpr dtype value = dtype::f8_e5m2; };
template <> struct dtype_of<float16>     { static constexpr dtype value = dtype::f16; };
template <> struct dtype_of<bfloat16>    { static constexpr dtype value = dtype::bf16; };
template <> struct dtype_of<float>       { static constexpr dtype value = dtype::f32; };
template <> struct dtype_of<double>      { static constexpr dtype value = dtype::f64; };
// clang-format on
template <class T>
    requires std::integral<T> &&(!std::same_as<T, bool>)struct dtype_of<T> {
        static constexpr dtype value = [] {
            constexpr bool is_signed = std::is_signed_v<T>;
            switch (sizeof(T)) {
            case 1:
                return is_signed ? dtype::i8 : dtype::u8;
            case 2:
                return is_signed ? dtype::i16 : dtype::u16;
            case 4:
                return is_signed ? dtype::i32 : dtype::u32;
            default:
                return is_signed ? dtype::i64 : dtype::u64;
            }
        }();
    };

    template <class T>
    concept element = requires {
        dtype_of<std::remove_const_t<T>>::value;
    };

    /// f(T{}) for the C++ type T of a floating dtype. Throws dtype_error for all others.
    template <class F>
    decltype(auto) visit_floating(dtype d, F&& f) {
        switch (d) {
        case dtype::f64:
            return f(double{});
        case dtype::f16:
            return f(float16{});
        case dtype::bf16:
            return f(bfloat16{});
        case dtype::f32:
            return f(float{});
        case dtype::f8_e4m3:
            return f(float8_e4m3{});
        case dtype::f8_e5m2:
            return f(float8_e5m2{});
        default:
            throw dtype_error("elements are " + std::string(name(d))
                              + ", expected F64, F32, F16, BF16, F8_E4M3 or F8_E5M2");
        }
    }

} // namespace plait
