// Merge methods over models in memory, in GB/s of bytes read and written, and in "triads": how many times longer than
// the STREAM triad a[i] = b[i] + s c[i] over as many bytes, of the same threads and the same run. The output's memory
// is reused, but in first_touch, where the system clears fresh pages on the way.
#include <plait/core/random.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/merge/methods.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t rows = 2048;
constexpr std::size_t cols = 4096;

plait::model one_matrix(plait::dtype type, std::uint64_t seed) {
    plait::model m;
    const auto view = m.add("w", type, {rows, cols});
    plait::counter_random random(seed);
    plait::visit_floating(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < view.size(); ++i) {
            // near normal, as weights are
            const T x(static_cast<float>(random.uniform() + random.uniform() + random.uniform() - 1.5));
            std::memcpy(view.bytes() + i * sizeof(T), &x, sizeof(T));
        }
    });
    return m;
}

std::vector<plait::model> matrices(plait::dtype type, std::size_t count) {
    std::vector<plait::model> models;
    for (std::size_t k = 0; k < count; ++k) models.push_back(one_matrix(type, k));
    return models;
}

[[gnu::noinline]] void triad_part(float* a, const float* b, const float* c, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0F * c[i];
}

/// Seconds of one triad over `bytes` bytes, the best of several; the first call allocates.
double triad_seconds(std::size_t bytes, int threads) {
    static std::map<std::pair<std::size_t, int>, double> known;
    double& best = known[{bytes, threads}];
    if (best > 0) return best;
    const std::size_t n = bytes / (3 * sizeof(float));
    std::vector<float> a(n), b(n, 1.0F), c(n, 2.0F);
    const auto parts = static_cast<std::size_t>(threads) * 8;
    for (int repeat = 0; repeat < 15; ++repeat) {
        const auto begin = std::chrono::steady_clock::now();
        plait::parallel_for(parts, static_cast<std::size_t>(threads), [&](std::size_t p) {
            const std::size_t first = p * n / parts;
            triad_part(&a[first], &b[first], &c[first], (p + 1) * n / parts - first);
        });
        benchmark::ClobberMemory();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (best == 0 || seconds < best) best = seconds;
    }
    return best;
}

/// Counters of a run that moves `bytes` bytes per iteration and takes `seconds` for each.
void report(benchmark::State& state, std::size_t bytes, double seconds, int threads) {
    state.counters["GB/s"] = static_cast<double>(bytes) * 1e-9 / seconds;
    state.counters["triads"] = seconds / triad_seconds(bytes, threads);
}

/// The best iteration's seconds are what is reported: others use the machine too.
template <class Work>
double best_seconds(benchmark::State& state, Work work) {
    double best = 0;
    for (auto _ : state) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        benchmark::ClobberMemory();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (best == 0 || seconds < best) best = seconds;
    }
    return best;
}

template <class Policy>
void in_place(benchmark::State& state, plait::dtype type, std::size_t count, int threads, const Policy& policy,
              std::size_t more_models) {
    const auto models = matrices(type, count);
    plait::model out = models[0];
    const std::size_t bytes = (count + 1 + more_models) * out.at("w").size_bytes();
    const double best = best_seconds(state, [&] { plait::fuse_into(out, models, policy, {.threads = threads}); });
    report(state, bytes, best, threads);
}

void first_touch(benchmark::State& state, plait::dtype type, int threads) {
    const auto models = matrices(type, 2);
    const std::size_t bytes = 3 * models[0].at("w").size_bytes();
    const double best = best_seconds(
        state, [&] { benchmark::DoNotOptimize(plait::fuse(models, plait::average{}, {.threads = threads})); });
    report(state, bytes, best, threads);
}

template <class Method>
void add(plait::dtype type, std::size_t count, int threads, const Method& method, const std::string& more = {}) {
    const std::string name = std::string(Method::name) + more + "/" + std::string(plait::name(type))
                             + "/models:" + std::to_string(count) + "/threads:" + std::to_string(threads);
    const auto run = [=](benchmark::State& s) {
        if constexpr (plait::wants_deltas<Method>) {
            static const plait::model f32 = one_matrix(plait::dtype::f32, 99);
            static const plait::model bf16 = one_matrix(plait::dtype::bf16, 99);
            const auto& base = type == plait::dtype::f32 ? f32 : bf16;
            in_place(s, type, count, threads, plait::task_vectors{base} | method, 1);
        } else {
            in_place(s, type, count, threads, method, 0);
        }
    };
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(0.3);
}

const int registered = [] {
    using plait::dtype;
    for (const dtype type : {dtype::f32, dtype::bf16, dtype::f16}) {
        for (const int threads : {1, 2}) {
            for (const std::size_t count : {2U, 8U}) add(type, count, threads, plait::average{});
            add(type, 2, threads, plait::average{.weights = {.3, .7}}, ".weighted");
            const std::string name =
                "first_touch/" + std::string(plait::name(type)) + "/models:2/threads:" + std::to_string(threads);
            benchmark::RegisterBenchmark(name.c_str(), [=](auto& s) { first_touch(s, type, threads); })
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime()
                ->MinTime(0.3);
        }
    }
    for (const dtype type : {dtype::f32, dtype::bf16}) {
        for (const int threads : {1, 2}) {
            add(type, 2, threads, plait::task_arithmetic{.lambda = .5});
            add(type, 2, threads, plait::ties{.density = .2});
            add(type, 2, threads, plait::breadcrumbs{});
            add(type, 2, threads, plait::dare{.density = .5});
            add(type, 2, threads, plait::della{.density = .5});
            add(type, 2, threads, plait::slerp{.t = .5});
            add(type, 2, threads, plait::coordinate_median{});
            add(type, 2, threads, plait::consensus{});
        }
    }
    return 0;
}();

} // namespace
