#pragma once

#include <plait/core/half.hpp>
#include <plait/core/instruction_set.hpp>

#if PLAIT_HAS_AVX2_FUNCTIONS
#include <immintrin.h>

#include <concepts>
#include <cstddef>

/// Steps of eight elements in AVX2 and F16C. Call them where has_avx2() only.
namespace plait::detail::avx2 {

inline constexpr std::size_t step = 8;

struct floats {
    __m256 all;
};
struct doubles {
    __m256d low, high; ///< elements 0 to 3, and 4 to 7
};

template <class T>
concept can_convert = std::same_as<T, float> || std::same_as<T, bfloat16> || std::same_as<T, float16>;

PLAIT_AVX2_STEP __m128i load_words(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

PLAIT_AVX2_STEP __m256 load_floats(const std::byte* from, float) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
}
PLAIT_AVX2_STEP __m256 load_floats(const std::byte* from, bfloat16) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_words(from)), 16));
}
PLAIT_AVX2_STEP __m256 load_floats(const std::byte* from, float16) { return _mm256_cvtph_ps(load_words(from)); }

PLAIT_AVX2_STEP doubles load_doubles(const std::byte* from, double) {
    const auto* numbers = reinterpret_cast<const double*>(from);
    return {_mm256_loadu_pd(numbers), _mm256_loadu_pd(numbers + step / 2)};
}
PLAIT_AVX2_STEP doubles load_doubles(const std::byte* from, float) {
    const auto* floats = reinterpret_cast<const float*>(from);
    return {_mm256_cvtps_pd(_mm_loadu_ps(floats)), _mm256_cvtps_pd(_mm_loadu_ps(floats + 4))};
}
PLAIT_AVX2_STEP doubles load_doubles(const std::byte* from, bfloat16) {
    const __m128i words = load_words(from);
    const __m128i zero = _mm_setzero_si128();
    return {_mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpacklo_epi16(zero, words))),
            _mm256_cvtps_pd(_mm_castsi128_ps(_mm_unpackhi_epi16(zero, words)))};
}
PLAIT_AVX2_STEP doubles load_doubles(const std::byte* from, float16) {
    const __m256 floats = _mm256_cvtph_ps(load_words(from));
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(floats)), _mm256_cvtps_pd(_mm256_extractf128_ps(floats, 1))};
}

/// Eight elements of type T, widened.
template <can_convert T>
PLAIT_AVX2_STEP void load(const std::byte* from, floats& to, T type) {
    to = {load_floats(from, type)};
}
template <class T>
PLAIT_AVX2_STEP void load(const std::byte* from, doubles& to, T type) {
    to = load_doubles(from, type);
}

PLAIT_AVX2_STEP __m256 to_floats(const doubles& x) {
    return _mm256_set_m128(_mm256_cvtpd_ps(x.high), _mm256_cvtpd_ps(x.low));
}

PLAIT_AVX2_STEP __m256d lose_bits(__m256d x) {
    const __m256i lost = _mm256_set1_epi64x((1LL << 29) - 1); // the bits that a float has no room for
    const __m256i bits = _mm256_castpd_si256(x);
    const __m256i odd = _mm256_or_si256(bits, _mm256_add_epi64(_mm256_and_si256(bits, lost), lost));
    return _mm256_castsi256_pd(_mm256_andnot_si256(lost, odd));
}

/// round_to_odd of doubles that are normal as floats, zero, infinite or NaN. Smaller ones become floats that are not
/// normal, and have to be rounded on their own, or round up to the least normal one, as they do in bfloat16.
PLAIT_AVX2_STEP __m256 round_to_odd(const doubles& x) { return to_floats({lose_bits(x.low), lose_bits(x.high)}); }

/// Whether all are finite.
PLAIT_AVX2_STEP bool is_finite(__m256 x) {
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
    return _mm256_movemask_ps(_mm256_cmp_ps(magnitude, _mm256_set1_ps(__builtin_inff()), _CMP_NLT_UQ)) == 0;
}

/// Writes eight floats, each rounded once. False where some are not finite: sums may be that in float alone.
PLAIT_AVX2_STEP bool store(floats x, std::byte* to, bfloat16) {
    const __m256i bits = _mm256_castps_si256(x.all);
    const __m256i is_odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(is_odd, _mm256_set1_epi32(0x7FFF));
    const __m256i words = _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
    const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), packed);
    return is_finite(x.all);
}
PLAIT_AVX2_STEP bool store(floats x, std::byte* to, float16) {
    const __m128i words = _mm256_cvtps_ph(x.all, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), words);
    return is_finite(x.all);
}

/// Writes eight doubles, each rounded once. False where some have to be rounded on their own.
PLAIT_AVX2_STEP bool store(const doubles& x, std::byte* to, double) {
    auto* numbers = reinterpret_cast<double*>(to);
    _mm256_storeu_pd(numbers, x.low);
    _mm256_storeu_pd(numbers + step / 2, x.high);
    return true;
}
PLAIT_AVX2_STEP bool store(const doubles& x, std::byte* to, float) {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), to_floats(x));
    return true;
}
PLAIT_AVX2_STEP bool store(const doubles& x, std::byte* to, bfloat16 type) {
    const __m256 odd = round_to_odd(x);
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), odd);
    const __m256 is_tiny = _mm256_cmp_ps(magnitude, _mm256_set1_ps(0x1p-126F), _CMP_LT_OQ);
    const __m256 refused = _mm256_and_ps(is_tiny, _mm256_cmp_ps(odd, _mm256_setzero_ps(), _CMP_NEQ_UQ));
    return store(floats{odd}, to, type) && _mm256_movemask_ps(refused) == 0;
}
PLAIT_AVX2_STEP bool store(const doubles& x, std::byte* to, float16 type) {
    return store(floats{round_to_odd(x)}, to, type);
}

/// Widens whole steps; returns how many elements that is.
template <can_convert T>
PLAIT_AVX2_FUNCTION std::size_t widen(const std::byte* from, std::size_t count, float* to) {
    std::size_t i = 0;
    for (; i + step <= count; i += step) _mm256_storeu_ps(to + i, load_floats(from + i * sizeof(T), T{}));
    return i;
}
template <can_convert T>
PLAIT_AVX2_FUNCTION std::size_t widen(const std::byte* from, std::size_t count, double* to) {
    std::size_t i = 0;
    for (; i + step <= count; i += step) {
        const doubles x = load_doubles(from + i * sizeof(T), T{});
        _mm256_storeu_pd(to + i, x.low);
        _mm256_storeu_pd(to + i + step / 2, x.high);
    }
    return i;
}

/// Rounds whole steps, up to one in which an element has to be rounded on its own; returns how many elements that is.
template <can_convert T>
PLAIT_AVX2_FUNCTION std::size_t narrow(const double* from, std::size_t count, std::byte* to) {
    std::size_t i = 0;
    for (; i + step <= count; i += step) {
        const doubles x{_mm256_loadu_pd(from + i), _mm256_loadu_pd(from + i + step / 2)};
        if (!store(x, to + i * sizeof(T), T{})) break;
    }
    return i;
}

} // namespace plait::detail::avx2
#endif
