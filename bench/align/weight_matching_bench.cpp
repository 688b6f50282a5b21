// weight_matching on pairs of perceptrons, beside the matrix products alone: the limit of a search that solves its
// assignments for nothing. "copy" is a reordered copy with noise, "unrelated" two networks with nothing in common.
#include "support/mlp.hpp"

#include <plait/align/align.hpp>
#include <plait/align/permute.hpp>
#include <plait/align/weight_matching.hpp>
#include <plait/linalg/backend.hpp>
#include <plait/spec/bind.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace {

using widths = std::vector<std::size_t>;

plait::model noisy_copy(const plait::model& a, const plait::permutation_spec& spec) {
    const auto bound = std::make_shared<const plait::bound_spec>(plait::bind(spec, a));
    std::vector<plait::unit_map> maps;
    for (const plait::unit_group& g : bound->groups()) { // sizes are powers of 2
        std::vector<std::size_t> order(g.size);
        for (std::size_t i = 0; i < g.size; ++i) order[i] = (i * 7 + 3) % g.size;
        maps.emplace_back(plait::permutation(std::move(order)));
    }
    plait::model b = plait::permute(a, {bound, std::move(maps)});
    plait::counter_random random(5);
    for (const auto& t : b.tensors()) {
        const auto v = t.view.as<float>();
        for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] *= static_cast<float>(0.8 + 0.4 * random.uniform());
    }
    return b;
}

void align(benchmark::State& state, const widths& w, bool copy) {
    const auto spec = bench::mlp_spec(w.size() - 1);
    const plait::model a = bench::mlp(w, 1);
    const plait::model b = copy ? noisy_copy(a, spec) : bench::mlp(w, 2);
    const plait::weight_matching strategy{spec};
    for (auto _ : state) {
        const plait::alignment found = plait::align({a, b}, strategy);
        state.counters["sweeps"] = found.report(1).sweeps;
        state.counters["objective"] = found.report(1).objective_after;
        benchmark::DoNotOptimize(found);
    }
}

// One product per (tensor, permuted axis): what each sweep must compute.
void products(benchmark::State& state, const widths& w) {
    const plait::model a = bench::mlp(w, 1);
    const plait::model b = bench::mlp(w, 2);
    double flops = 0;
    for (auto _ : state) {
        flops = 0;
        for (std::size_t l = 1; l + 1 < w.size(); ++l) {
            std::vector<float> c(w[l] * w[l]);
            const plait::matrix_view<float> out(c.data(), w[l], w[l]);
            const auto matrix = [&](const plait::model& m, std::size_t layer) {
                const auto v = m.at("fc" + std::to_string(layer) + ".weight").as<const float>();
                return plait::matrix_view<const float>(v.data(), v.shape()[0], v.shape()[1]);
            };
            plait::multiply_add(plait::op::plain, matrix(a, l), plait::op::transposed, matrix(b, l), out);
            plait::multiply_add(plait::op::transposed, matrix(a, l + 1), plait::op::plain, matrix(b, l + 1), out);
            flops += 2.0 * static_cast<double>(w[l] * w[l]) * static_cast<double>(w[l - 1] + w[l + 1]);
            benchmark::DoNotOptimize(c.data());
        }
    }
    state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void add_family(const std::string& name, const widths& w) {
    const auto set = [](auto* b) { b->Unit(benchmark::kMillisecond); };
    set(benchmark::RegisterBenchmark((name + "/copy").c_str(), [w](auto& s) { align(s, w, true); }));
    set(benchmark::RegisterBenchmark((name + "/unrelated").c_str(), [w](auto& s) { align(s, w, false); }));
    set(benchmark::RegisterBenchmark((name + "/products").c_str(), [w](auto& s) { products(s, w); }));
}

const int registered = [] {
    for (std::size_t n : {256U, 512U, 1024U, 2048U}) add_family("mlp_64-n-n-10/" + std::to_string(n), {64, n, n, 10});
    add_family("block_1024-4096-1024", {1024, 4096, 1024});
    return 0;
}();

} // namespace
