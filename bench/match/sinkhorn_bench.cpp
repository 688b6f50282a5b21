// An iteration of sinkhorn beside as many exponentials in a row.
#include <plait/match/sinkhorn.hpp>

#include "match/families.hpp"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>

namespace {

constexpr int iterations = 5;

void sinkhorn(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const auto c = families::unrelated(n, n, 1);
    const plait::sinkhorn solve{.max_iterations = iterations, .tolerance = 0};
    for (auto _ : state) benchmark::DoNotOptimize(solve(plait::matrix_view<const float>(c.data(), n, n)).cost);
}

void exponentials(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const auto c = families::uniform(n * n, 1);
    for (auto _ : state) {
        double sum = 0;
        for (int i = 0; i < 2 * iterations - 1; ++i)
            for (float x : c) sum += std::exp(static_cast<double>(x));
        benchmark::DoNotOptimize(sum);
    }
}

BENCHMARK(sinkhorn)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(exponentials)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);

} // namespace
