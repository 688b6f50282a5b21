// average over models in memory, in GB/s of bytes read and written, beside a plain copy of one model in the same run.
#include <plait/core/random.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/merge/average.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t rows = 4096;
constexpr std::size_t cols = 8192;

plait::model one_matrix(plait::dtype type, std::uint64_t seed) {
    plait::model m;
    const auto view = m.add("w", type, {rows, cols});
    plait::counter_random random(seed);
    plait::visit_floating(type, [&]<class T>(T) {
        for (std::size_t i = 0; i < view.size(); ++i) {
            const T x(static_cast<float>(random.uniform() - 0.5));
            std::memcpy(view.bytes() + i * sizeof(T), &x, sizeof(T));
        }
    });
    return m;
}

void rate(benchmark::State& state, std::size_t bytes) {
    state.counters["GB/s"] =
        benchmark::Counter(static_cast<double>(bytes) * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void copy(benchmark::State& state) {
    const plait::model from = one_matrix(plait::dtype::f32, 1);
    plait::model to = from;
    const std::size_t bytes = from.at("w").size_bytes();
    for (auto _ : state) {
        std::memcpy(to.at("w").bytes(), from.at("w").bytes(), bytes);
        benchmark::ClobberMemory();
    }
    rate(state, 2 * bytes);
}

void average(benchmark::State& state, plait::dtype type, std::size_t count, int threads) {
    std::vector<plait::model> models;
    for (std::size_t k = 0; k < count; ++k) models.push_back(one_matrix(type, k));
    plait::model out = models[0];
    const std::size_t bytes = out.at("w").size_bytes();
    for (auto _ : state) {
        plait::fuse_into(out, models, plait::average{}, {.threads = threads});
        benchmark::ClobberMemory();
    }
    rate(state, (count + 1) * bytes);
}

const int registered = [] {
    const auto set = [](auto* b) { b->Unit(benchmark::kMillisecond)->UseRealTime(); };
    set(benchmark::RegisterBenchmark("copy/F32", copy));
    for (const plait::dtype type : {plait::dtype::f32, plait::dtype::bf16, plait::dtype::f16}) {
        for (const std::size_t count : {2U, 8U}) {
            for (const int threads : {1, 2}) {
                const std::string name = "average/" + std::string(plait::name(type)) + "/models:" +
                                         std::to_string(count) + "/threads:" + std::to_string(threads);
                set(benchmark::RegisterBenchmark(name.c_str(),
                                                 [=](auto& s) { average(s, type, count, threads); }));
            }
        }
    }
    return 0;
}();

} // namespace
