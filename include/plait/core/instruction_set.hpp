#pragma once

/// The one place that chooses instructions at run time: AVX2 where a build for any x86-64 meets a machine that has it.
/// No FMA comes with it, so both ways compute the same bits.
#if defined(__x86_64__) && !defined(__AVX2__)
#define PLAIT_CHOOSES_AVX2 1
#else
#define PLAIT_CHOOSES_AVX2 0
#endif

/// Before or after the parameters of a function or lambda that is to become part of its caller.
#define PLAIT_ALWAYS_INLINE __attribute__((always_inline))

namespace plait::detail {

#if PLAIT_CHOOSES_AVX2
template <class Kernel>
[[gnu::target("avx2")]] decltype(auto) with_avx2(const Kernel& kernel) {
    return kernel();
}

inline bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#endif

/// kernel(), compiled for the widest vectors of this machine. The kernel and what it calls must be PLAIT_ALWAYS_INLINE,
/// so that they become part of the function for either.
///     with_widest_vectors([&]() PLAIT_ALWAYS_INLINE { for (...) ... });
template <class Kernel>
decltype(auto) with_widest_vectors(const Kernel& kernel) {
#if PLAIT_CHOOSES_AVX2
    static const bool wide = has_avx2();
    if (wide) return with_avx2(kernel);
#endif
    return kernel();
}

} // namespace plait::detail
