#pragma once

#include <plait/core/random.hpp>
#include <plait/linalg/backend.hpp>
#include <plait/permutation/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

/// Square cost matrices of the kinds that alignment meets, n x n, the same on every machine up to the rounding of GEMM.
namespace families {

inline std::vector<float> uniform(std::size_t size, std::uint64_t seed) {
    plait::counter_random random(seed);
    std::vector<float> numbers(size);
    for (float& x : numbers) x = static_cast<float>(random.uniform());
    return numbers;
}

/// Source: Box and Muller 1958.
inline std::vector<float> gaussian(std::size_t size, std::uint64_t seed) {
    plait::counter_random random(seed);
    std::vector<float> numbers(size + size % 2);
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
        const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
        const double angle = 2 * std::numbers::pi * random.uniform();
        numbers[i] = static_cast<float>(radius * std::cos(angle));
        numbers[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
    numbers.resize(size);
    return numbers;
}

/// -A B^T for A and B of n rows of `depth` numbers: what weight matching minimises.
inline std::vector<float> products(const std::vector<float>& a, const std::vector<float>& b, std::size_t n,
                                   std::size_t depth) {
    std::vector<float> c(n * n);
    using plait::matrix_view;
    plait::multiply_add(plait::op::plain, matrix_view<const float>(a.data(), n, depth), plait::op::transposed,
                        matrix_view<const float>(b.data(), n, depth), matrix_view<float>(c.data(), n, n));
    for (float& x : c) x = -x;
    return c;
}

inline std::vector<float> unrelated(std::size_t n, std::size_t depth, std::uint64_t seed) {
    return products(gaussian(n * depth, seed), gaussian(n * depth, seed + 100), n, depth);
}

enum class dead { same_units, other_units };

/// B is A with its rows reordered and noise added; `share` of the units of both have no weights.
inline std::vector<float> noisy_copy(std::size_t n, std::size_t depth, float noise, std::uint64_t seed,
                                     double share = 0, dead which = dead::same_units) {
    plait::counter_random random(seed + 200);
    const plait::permutation order = plait::random_permutation(n, random);
    auto a = gaussian(n * depth, seed);
    auto b = gaussian(n * depth, seed + 100);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < depth; ++k) b[i * depth + k] = a[order[i] * depth + k] + noise * b[i * depth + k];
    const auto silence = [&](std::vector<float>& side, std::size_t i) {
        std::fill_n(side.begin() + static_cast<std::ptrdiff_t>(i * depth), depth, 0.0F);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(share * static_cast<double>(n)); ++i) {
        silence(b, i);
        silence(a, which == dead::same_units ? order[i] : i);
    }
    return products(a, b, n, depth);
}

struct family {
    std::string_view name;
    std::vector<float> (*costs)(std::size_t n);
};

inline constexpr family all[] = {
    {"uniform", [](std::size_t n) { return uniform(n * n, 1); }},
    {"easy", [](std::size_t n) { return noisy_copy(n, n, 0.1F, 2); }},
    {"medium", [](std::size_t n) { return noisy_copy(n, n, 10, 3); }},
    {"hard_quarter", [](std::size_t n) { return unrelated(n, n / 4, 4); }},
    {"hard", [](std::size_t n) { return unrelated(n, n, 5); }},
    {"hard_fourfold", [](std::size_t n) { return unrelated(n, 4 * n, 6); }},
    {"dead_30", [](std::size_t n) { return noisy_copy(n, n, 0.1F, 7, 0.3); }},
    {"dead_30_apart", [](std::size_t n) { return noisy_copy(n, n, 0.1F, 7, 0.3, dead::other_units); }},
    {"integers",
     [](std::size_t n) {
         auto c = uniform(n * n, 8);
         for (float& x : c) x = std::floor(100 * x);
         return c;
     }},
    {"rank_27", [](std::size_t n) { return unrelated(n, 27, 9); }},
    {"rank_27_copy", [](std::size_t n) { return noisy_copy(n, 27, 1, 10); }},
    {"rank_1",
     [](std::size_t n) {
         auto a = gaussian(n, 12);
         auto b = gaussian(n, 13);
         for (std::vector<float>* side : {&a, &b})
             for (float& x : *side) x = std::exp(3 * x);
         return products(a, b, n, 1);
     }},
    {"distances", // of points on a line: everything is nearly tied
     [](std::size_t n) {
         const auto a = gaussian(n, 14);
         const auto b = gaussian(n, 15);
         std::vector<float> c(n * n);
         for (std::size_t i = 0; i < n; ++i)
             for (std::size_t j = 0; j < n; ++j) c[i * n + j] = std::fabs(a[i] - b[j]);
         return c;
     }},
    {"rank_3", [](std::size_t n) { return unrelated(n, 3, 11); }},
};

} // namespace families
