#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// 32-byte vectors for g++ and clang, which split them where the machine's registers are smaller.
namespace plait::detail {

template <class T, std::size_t Bytes>
struct pack_of {
    using type [[gnu::vector_size(Bytes)]] = T;
};
template <class T, std::size_t Bytes = 32>
using pack = typename pack_of<T, Bytes>::type;

/// Elements per pack.
template <class T>
inline constexpr std::size_t lanes = 32 / sizeof(T);

/// The signed integer of a floating type's size: comparing packs of T gives packs of it.
template <std::floating_point T>
using lane_mask = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
[[gnu::always_inline]] inline void load(pack<T>& to, const T* from) {
    std::memcpy(&to, from, sizeof(to));
}

template <class T>
[[gnu::always_inline]] inline void store(T* to, const pack<T>& from) {
    std::memcpy(to, &from, sizeof(from));
}

template <class T>
[[gnu::always_inline]] inline void fill(pack<T>& to, T value) {
    to = value - pack<T>{};
}

/// As many elements of T as a pack of doubles has, as doubles.
template <std::floating_point T>
[[gnu::always_inline]] inline void load_doubles(pack<double>& to, const T* from) {
    pack<T, lanes<double> * sizeof(T)> elements;
    std::memcpy(&elements, from, sizeof(elements));
    to = __builtin_convertvector(elements, pack<double>);
}

/// The lanes' smaller elements; of a NaN in `a`, that of `b`.
template <class T>
[[gnu::always_inline]] inline void minimize(pack<T>& b, const pack<T>& a) {
    b = a < b ? a : b;
}

/// Asks for the cache lines of `count` elements.
template <class T>
[[gnu::always_inline]] inline void prefetch_to_level_2(const T* from, std::size_t count) {
    constexpr std::size_t line = 64 / sizeof(T);
    for (std::size_t k = 0; k < count; k += line) __builtin_prefetch(from + k, 0, 2);
}

/// x where the mask holds, otherwise 0.
template <class Mask, class Pack>
[[gnu::always_inline]] inline void keep_where(const Mask& mask, Pack& x) {
    x = reinterpret_cast<Pack>(reinterpret_cast<Mask>(x) & mask);
}

/// Whether a comparison holds in any lane.
template <class M>
[[gnu::always_inline]] inline bool any(const M& mask) {
    pack<std::uint64_t> words;
    std::memcpy(&words, &mask, sizeof(words));
    return ((words[0] | words[1]) | (words[2] | words[3])) != 0;
}

} // namespace plait::detail
