#pragma once

#include <plait/core/convert_avx2.hpp>
#include <plait/core/dtype.hpp>

#include <concepts>
#include <cstddef>
#include <cstring>

/// Conversions of many elements at once, bit for bit those of the element types. Bytes may be misaligned.
namespace plait::detail {

template <class T>
T load_as(const std::byte* from) {
    T x;
    std::memcpy(&x, from, sizeof(T));
    return x;
}

template <class T, std::floating_point F>
void store_as(F x, std::byte* to) {
    const auto rounded = static_cast<T>(x);
    std::memcpy(to, &rounded, sizeof(T));
}

/// Writes `count` elements of type T at `from`, widened to F, to `to`.
template <class T, std::floating_point F>
void widen(const std::byte* from, std::size_t count, F* to) {
    std::size_t done = 0;
#if PLAIT_HAS_AVX2_FUNCTIONS
    if constexpr (avx2::can_convert<T>)
        if (has_avx2()) done = avx2::widen<T>(from, count, to);
#endif
    for (; done < count; ++done) to[done] = static_cast<F>(load_as<T>(from + done * sizeof(T)));
}

/// Writes `count` doubles, each rounded once to T, to `to`.
template <class T>
void narrow(const double* from, std::size_t count, std::byte* to) {
    std::size_t done = 0;
#if PLAIT_HAS_AVX2_FUNCTIONS
    if constexpr (avx2::can_convert<T>) {
        while (has_avx2() && count - done >= avx2::step) {
            done += avx2::narrow<T>(from + done, count - done, to + done * sizeof(T));
            // It ends early at an element that is to be rounded on its own.
            for (std::size_t left = avx2::step; left > 0 && done < count; --left, ++done)
                store_as<T>(from[done], to + done * sizeof(T));
        }
    }
#endif
    for (; done < count; ++done) store_as<T>(from[done], to + done * sizeof(T));
}

} // namespace plait::detail
