#pragma once

#include <plait/core/convert_avx2.hpp>

#if PLAIT_HAS_AVX2_FUNCTIONS
#include <immintrin.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>

/// Arithmetic on steps of eight elements. Comparisons give masks: all bits of an element where they hold, else none.
namespace plait::detail::avx2 {

/// Eight elements of F.
template <std::floating_point F>
using step_of = std::conditional_t<std::same_as<F, float>, floats, doubles>;

PLAIT_AVX2_STEP void fill(floats& to, double x) { to = {_mm256_set1_ps(static_cast<float>(x))}; }
PLAIT_AVX2_STEP void fill(doubles& to, double x) { to = {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }

PLAIT_AVX2_STEP void load(const float* from, floats& to) { to = {_mm256_loadu_ps(from)}; }
PLAIT_AVX2_STEP void load(const double* from, doubles& to) { to = {_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4)}; }
PLAIT_AVX2_STEP void store(floats x, float* to) { _mm256_storeu_ps(to, x.all); }
PLAIT_AVX2_STEP void store(const doubles& x, double* to) {
    _mm256_storeu_pd(to, x.low);
    _mm256_storeu_pd(to + 4, x.high);
}

#define PLAIT_AVX2_BINARY(name, ps, pd)                                                                                \
    PLAIT_AVX2_STEP floats name(floats a, floats b) { return {ps(a.all, b.all)}; }                                     \
    PLAIT_AVX2_STEP doubles name(const doubles& a, const doubles& b) { return {pd(a.low, b.low), pd(a.high, b.high)}; }
PLAIT_AVX2_BINARY(add, _mm256_add_ps, _mm256_add_pd)
PLAIT_AVX2_BINARY(subtract, _mm256_sub_ps, _mm256_sub_pd)
PLAIT_AVX2_BINARY(multiply, _mm256_mul_ps, _mm256_mul_pd)
PLAIT_AVX2_BINARY(divide, _mm256_div_ps, _mm256_div_pd)
PLAIT_AVX2_BINARY(keep_where, _mm256_and_ps, _mm256_and_pd)       ///< a mask and a number; 0 elsewhere
PLAIT_AVX2_BINARY(drop_where, _mm256_andnot_ps, _mm256_andnot_pd) ///< a mask and a number; 0 where it holds
PLAIT_AVX2_BINARY(either, _mm256_or_ps, _mm256_or_pd)
#undef PLAIT_AVX2_BINARY

/// a < b; false of NaN.
PLAIT_AVX2_STEP floats is_below(floats a, floats b) { return {_mm256_cmp_ps(a.all, b.all, _CMP_LT_OQ)}; }
PLAIT_AVX2_STEP doubles is_below(const doubles& a, const doubles& b) {
    return {_mm256_cmp_pd(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_pd(a.high, b.high, _CMP_LT_OQ)};
}

/// a >= b; false of NaN.
PLAIT_AVX2_STEP floats is_at_least(floats a, floats b) { return {_mm256_cmp_ps(a.all, b.all, _CMP_GE_OQ)}; }
PLAIT_AVX2_STEP doubles is_at_least(const doubles& a, const doubles& b) {
    return {_mm256_cmp_pd(a.low, b.low, _CMP_GE_OQ), _mm256_cmp_pd(a.high, b.high, _CMP_GE_OQ)};
}

PLAIT_AVX2_STEP floats is_zero(floats a) { return {_mm256_cmp_ps(a.all, _mm256_setzero_ps(), _CMP_EQ_OQ)}; }
PLAIT_AVX2_STEP doubles is_zero(const doubles& a) {
    const __m256d zero = _mm256_setzero_pd();
    return {_mm256_cmp_pd(a.low, zero, _CMP_EQ_OQ), _mm256_cmp_pd(a.high, zero, _CMP_EQ_OQ)};
}

PLAIT_AVX2_STEP floats magnitude(floats a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0F), a.all)}; }
PLAIT_AVX2_STEP doubles magnitude(const doubles& a) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, a.low), _mm256_andnot_pd(sign, a.high)};
}

/// a where the mask holds, else b.
PLAIT_AVX2_STEP floats choose(floats mask, floats a, floats b) { return {_mm256_blendv_ps(b.all, a.all, mask.all)}; }
PLAIT_AVX2_STEP doubles choose(const doubles& mask, const doubles& a, const doubles& b) {
    return {_mm256_blendv_pd(b.low, a.low, mask.low), _mm256_blendv_pd(b.high, a.high, mask.high)};
}

/// How often masks held, of up to 2^31 steps.
class floats_tally {
public:
    PLAIT_AVX2_STEP void clear() { all_ = _mm256_setzero_si256(); }
    PLAIT_AVX2_STEP void add(floats mask) { all_ = _mm256_sub_epi32(all_, _mm256_castps_si256(mask.all)); }
    PLAIT_AVX2_STEP std::uint64_t total() const {
        const __m256i low = _mm256_and_si256(all_, _mm256_set1_epi64x(0xFFFFFFFF));
        return sum(_mm256_add_epi64(low, _mm256_srli_epi64(all_, 32)));
    }
    PLAIT_AVX2_STEP static std::uint64_t sum(__m256i counts) {
        std::array<std::uint64_t, 4> lanes;
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes.data()), counts);
        return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }

private:
    __m256i all_;
};
class doubles_tally {
public:
    PLAIT_AVX2_STEP void clear() { all_ = _mm256_setzero_si256(); }
    PLAIT_AVX2_STEP void add(const doubles& mask) {
        all_ = _mm256_sub_epi64(all_, _mm256_castpd_si256(mask.low));
        all_ = _mm256_sub_epi64(all_, _mm256_castpd_si256(mask.high));
    }
    PLAIT_AVX2_STEP std::uint64_t total() const { return floats_tally::sum(all_); }

private:
    __m256i all_;
};
template <std::floating_point F>
using tally_of = std::conditional_t<std::same_as<F, float>, floats_tally, doubles_tally>;

/// Bit e of the result is element e of a mask.
PLAIT_AVX2_STEP unsigned bits_of(floats mask) { return static_cast<unsigned>(_mm256_movemask_ps(mask.all)); }
PLAIT_AVX2_STEP unsigned bits_of(const doubles& mask) {
    return static_cast<unsigned>(_mm256_movemask_pd(mask.low))
           | static_cast<unsigned>(_mm256_movemask_pd(mask.high)) << 4;
}

/// Byte j of an entry is the position of the j-th bit that is set in the entry's index.
inline constexpr std::array<std::uint64_t, 256> positions_of_bits = [] {
    std::array<std::uint64_t, 256> table{};
    for (unsigned bits = 0; bits < 256; ++bits)
        for (unsigned e = 0, found = 0; e < step; ++e)
            if ((bits >> e & 1U) != 0) table[bits] |= std::uint64_t{e} << (8 * found++);
    return table;
}();

/// Writes the bits of those elements, as floats, whose bit is set in `chosen`, one after the other. The rest of eight
/// words is undefined.
PLAIT_AVX2_STEP void store_chosen(unsigned chosen, floats x, std::uint32_t* to) {
    const __m128i positions = _mm_cvtsi64_si128(static_cast<std::int64_t>(positions_of_bits[chosen]));
    const __m256 together = _mm256_permutevar8x32_ps(x.all, _mm256_cvtepu8_epi32(positions));
    _mm256_storeu_ps(reinterpret_cast<float*>(to), together);
}
PLAIT_AVX2_STEP void store_chosen(unsigned chosen, const doubles& x, std::uint32_t* to) {
    store_chosen(chosen, floats{to_floats(x)}, to);
}

} // namespace plait::detail::avx2
#endif
