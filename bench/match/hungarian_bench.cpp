// hungarian on the families that alignment meets. `streams` is the time in units of one plain pass over the matrix,
// measured before; `passes` how often the matrix was read, in passes. `warm` solves an unchanged matrix again.
#include <plait/core/simd.hpp>
#include <plait/match/assignment_solver.hpp>
#include <plait/match/greedy.hpp>
#include <plait/match/hungarian.hpp>

#include "match/families.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct problem {
    std::size_t n;
    std::vector<float> costs;
    double stream_seconds = std::numeric_limits<double>::infinity();

    problem(const families::family& f, std::size_t size) : n(size), costs(f.costs(size)) {
        const std::size_t repeats = 1 + (std::size_t{1} << 24) / costs.size(); // the clock is coarse
        for (int round = 0; round < 5; ++round) {
            const double start = cpu_seconds();
            for (std::size_t r = 0; r < repeats; ++r) {
                using namespace plait::detail;
                pack<float> sums[4] = {};
                for (std::size_t k = 0; k + 4 * lanes<float> <= costs.size(); k += 4 * lanes<float>) {
                    for (std::size_t i = 0; i < 4; ++i) {
                        pack<float> x;
                        load(x, costs.data() + k + i * lanes<float>);
                        sums[i] += x;
                    }
                }
                benchmark::DoNotOptimize(sums);
            }
            stream_seconds = std::min(stream_seconds, (cpu_seconds() - start) / static_cast<double>(repeats));
        }
    }
    plait::matrix_view<const float> view() const { return {costs.data(), n, n}; }
};

// The benches of one matrix follow each other; only the last matrix is kept.
const problem& problem_of(const families::family& f, std::size_t n) {
    static std::pair<std::string, std::unique_ptr<problem>> last;
    const std::string key = std::string(f.name) + std::to_string(n);
    if (last.first != key) {
        last.second.reset();
        last = {key, std::make_unique<problem>(f, n)};
    }
    return *last.second;
}

template <class Solve>
void run(benchmark::State& state, const problem& p, const Solve& solve) {
    const double start = cpu_seconds();
    for (auto _ : state) benchmark::DoNotOptimize(solve().cost);
    const double seconds = (cpu_seconds() - start) / static_cast<double>(state.iterations());
    state.counters["streams"] = seconds / p.stream_seconds;
}

void cold(benchmark::State& state, const families::family& f, std::size_t n) {
    const problem& p = problem_of(f, n);
    run(state, p, [&] { return plait::hungarian{}(p.view()); });
    plait::detail::assignment_solver<float> solver(p.view());
    solver.start();
    state.counters["gap"] = solver.finish().gap;
    state.counters["passes"] = 1 + static_cast<double>(solver.scans()) / static_cast<double>(n);
}

void warm(benchmark::State& state, const families::family& f, std::size_t n) {
    const problem& p = problem_of(f, n);
    const plait::assignment before = plait::hungarian{}(p.view());
    run(state, p, [&] { return plait::hungarian{}(p.view(), before); });
}

void greedy(benchmark::State& state, const families::family& f, std::size_t n) {
    const problem& p = problem_of(f, n);
    run(state, p, [&] { return plait::greedy{}(p.view()); });
}

const int registered = [] {
    for (const families::family& f : families::all) {
        for (std::size_t n = 64; n <= 11008; n = n == 8192 ? 11008 : 2 * n) {
            if (n > 4096 && f.name != "uniform" && f.name != "easy" && f.name != "hard_quarter") continue;
            const std::string name = std::string(f.name) + '/' + std::to_string(n);
            const auto add = [&](const std::string& what, auto bench) {
                benchmark::RegisterBenchmark((name + what).c_str(), [=](auto& state) {
                    bench(state, f, n);
                })->Unit(benchmark::kMillisecond);
            };
            add("/hungarian", cold);
            if (n >= 1024) add("/hungarian_warm", warm);
            if (n == 1024) add("/greedy", greedy);
        }
    }
    return 0;
}();

} // namespace
