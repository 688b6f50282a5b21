#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/// The one place that chooses instructions at run time: AVX2 and F16C where a build for any x86-64 meets a machine that
/// has them. No FMA comes with them, so both ways compute the same bits.
#if defined(__x86_64__)
#define PLAIT_HAS_AVX2_FUNCTIONS 1
#else
#define PLAIT_HAS_AVX2_FUNCTIONS 0
#endif

/// Before or after the parameters of a function or lambda that is to become part of its caller.
#define PLAIT_ALWAYS_INLINE __attribute__((always_inline))

/// Before a function for machines where has_avx2(), and before what is to become part of such a function.
#define PLAIT_AVX2_FUNCTION [[gnu::target("avx2,f16c")]]
#define PLAIT_AVX2_STEP [[gnu::target("avx2,f16c")]] PLAIT_ALWAYS_INLINE inline

namespace plait::detail {

#if PLAIT_HAS_AVX2_FUNCTIONS
#if defined(__AVX2__) && defined(__F16C__)
constexpr bool has_avx2() { return true; }
#else
inline bool has_avx2() {
    static const bool has = [] {
        unsigned a = 0, b = 0, c = 0, d = 0; // not every compiler knows "f16c" here
        return __builtin_cpu_supports("avx2") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    }();
    return has;
}
#endif

template <class Kernel>
PLAIT_AVX2_FUNCTION decltype(auto) with_avx2(const Kernel& kernel) {
    return kernel();
}
#endif

/// kernel(), compiled for the widest vectors of this machine. The kernel and what it calls must be PLAIT_ALWAYS_INLINE,
/// so that they become part of the function for either.
///     with_widest_vectors([&]() PLAIT_ALWAYS_INLINE { for (...) ... });
template <class Kernel>
decltype(auto) with_widest_vectors(const Kernel& kernel) {
#if PLAIT_HAS_AVX2_FUNCTIONS && !defined(__AVX2__)
    if (has_avx2()) return with_avx2(kernel);
#endif
    return kernel();
}

} // namespace plait::detail
