// hungarian on the families that alignment meets, beside greedy on the same costs.
#include <plait/core/random.hpp>
#include <plait/linalg/backend.hpp>
#include <plait/match/greedy.hpp>
#include <plait/match/hungarian.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

std::vector<float> uniform(std::size_t n, std::uint64_t seed, double low = 0, double high = 1) {
    plait::counter_random random(seed);
    std::vector<float> numbers(n);
    for (float& x : numbers) x = static_cast<float>(low + (high - low) * random.uniform());
    return numbers;
}

enum family { random_costs, noisy_copy, unrelated };

// noisy_copy: -A B^T where B is A with its rows reordered and noise added; unrelated: A and B have nothing in common.
std::vector<float> costs(family kind, std::size_t n) {
    if (kind == random_costs) return uniform(n * n, 1);
    const std::size_t depth = n;
    const auto a = uniform(n * depth, 2, -1, 1);
    auto b = uniform(n * depth, 3, -1, 1);
    if (kind == noisy_copy) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t k = 0; k < depth; ++k)
                b[i * depth + k] = a[(i * 7 + 3) % n * depth + k] + 0.1F * b[i * depth + k]; // n is a power of 2
    }
    std::vector<float> c(n * n);
    plait::multiply_add(plait::op::plain, plait::matrix_view<const float>(a.data(), n, depth), plait::op::transposed,
                        plait::matrix_view<const float>(b.data(), n, depth), plait::matrix_view<float>(c.data(), n, n));
    for (float& x : c) x = -x;
    return c;
}

template <class Matcher>
void match(benchmark::State& state, family kind) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const auto c = costs(kind, n);
    const plait::matrix_view<const float> view(c.data(), n, n);
    for (auto _ : state) state.counters["cost"] = Matcher{}(view).cost;
}

const int registered = [] {
    const std::vector<std::pair<std::string, family>> families{
        {"random_costs", random_costs}, {"noisy_copy", noisy_copy}, {"unrelated", unrelated}};
    for (const auto& [name, kind] : families) {
        const auto set = [](auto* b) { b->RangeMultiplier(2)->Range(256, 2048)->Unit(benchmark::kMillisecond); };
        const family f = kind;
        set(benchmark::RegisterBenchmark(("hungarian/" + name).c_str(), [f](auto& s) { match<plait::hungarian>(s, f); }));
        set(benchmark::RegisterBenchmark(("greedy/" + name).c_str(), [f](auto& s) { match<plait::greedy>(s, f); }));
    }
    return 0;
}();

} // namespace
