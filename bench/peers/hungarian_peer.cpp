// Times hungarian on the matrices of match/families.hpp, and LEMON and dlib where their headers are installed.
// usage: hungarian_peer DIR SIZE [FAMILY...]
// Writes each matrix to DIR/<family>_<size>.f32 for solvers of other languages and prints a line of JSON about it.
#include <plait/match/hungarian.hpp>

#include "match/families.hpp"

#if __has_include(<lemon/network_simplex.h>)
#define PEER_LEMON
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>
#endif
#if __has_include(<dlib/optimization/max_cost_assignment.h>)
#define PEER_DLIB
#include <dlib/optimization/max_cost_assignment.h>
#endif

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// LEMON keeps some 70 bytes per entry.
constexpr std::size_t largest_peer_size = 1024;
constexpr unsigned peer_seconds = 30;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Run>
double best_ms(Run run) {
    constexpr double shortest = 1e-3; // seconds; the clock is a system call, and coarse on some machines
    double best = std::numeric_limits<double>::infinity();
    double total = 0;
    std::size_t batch = 1;
    for (int runs = 0; runs < 3 || total < 0.3;) {
        const double start = cpu_seconds();
        for (std::size_t i = 0; i < batch; ++i) run();
        const double spent = cpu_seconds() - start;
        if (spent < shortest) {
            batch *= 2;
            continue;
        }
        best = std::min(best, spent / static_cast<double>(batch));
        total += spent;
        ++runs;
    }
    return 1e3 * best;
}

// One accumulator would measure the latency of an addition, not the memory; inlined, GCC 12 does not vectorise it.
[[gnu::noinline]] float sum(std::span<const float> numbers) {
    std::array<float, 16> sums{};
    std::size_t i = 0;
    for (; i + sums.size() <= numbers.size(); i += sums.size())
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += numbers[i + k];
    return std::accumulate(numbers.begin() + static_cast<std::ptrdiff_t>(i), numbers.end(),
                           std::accumulate(sums.begin(), sums.end(), 0.0F));
}

struct outcome {
    double ms = 0;
    double cost = 0;
    double magnitude = 0; // sum of the chosen |costs|, against which errors are measured
};

template <class Columns>
void add_costs(outcome& o, const std::vector<float>& costs, const Columns& columns) {
    const std::size_t n = columns.size();
    std::vector<bool> taken(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto j = static_cast<std::size_t>(columns[i]);
        if (j >= n || taken[j]) throw std::runtime_error("not an assignment");
        taken[j] = true;
        const auto c = static_cast<double>(costs[i * n + j]);
        o.cost += c;
        o.magnitude += std::fabs(c);
    }
}

#ifdef PEER_LEMON
// LEMON vouches for integer costs only, so hungarian.py compares the totals; the graph is built outside the clock.
outcome lemon_simplex(const std::vector<float>& costs, std::size_t n) {
    using graph = lemon::SmartDigraph;
    const int size = static_cast<int>(n);
    graph g;
    g.reserveNode(2 * size);
    g.reserveArc(size * size);
    for (int i = 0; i < 2 * size; ++i) g.addNode();
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) g.addArc(g.nodeFromId(i), g.nodeFromId(size + j));
    graph::ArcMap<double> cost(g);
    graph::NodeMap<int> supply(g);
    for (int arc = 0; arc < size * size; ++arc) cost[g.arcFromId(arc)] = costs[static_cast<std::size_t>(arc)];
    for (int i = 0; i < 2 * size; ++i) supply[g.nodeFromId(i)] = i < size ? 1 : -1;

    using simplex = lemon::NetworkSimplex<graph, int, double>;
    simplex solver(g);
    solver.costMap(cost).supplyMap(supply);
    outcome o;
    o.ms = best_ms([&] {
        if (solver.run() != simplex::OPTIMAL) throw std::runtime_error("no optimum");
    });
    std::vector<int> columns(n, -1);
    for (int arc = 0; arc < size * size; ++arc)
        if (solver.flow(g.arcFromId(arc)) > 0) columns[static_cast<std::size_t>(arc / size)] = arc % size;
    add_costs(o, costs, columns);
    return o;
}
#endif

#ifdef PEER_DLIB
outcome dlib_assignment(const std::vector<float>& costs, std::size_t n) {
    const long size = static_cast<long>(n);
    dlib::matrix<int> gains(size, size);
    for (long i = 0; i < size; ++i)
        for (long j = 0; j < size; ++j) gains(i, j) = -static_cast<int>(costs[static_cast<std::size_t>(i * size + j)]);
    std::vector<long> columns;
    outcome o;
    o.ms = best_ms([&] { columns = dlib::max_cost_assignment(gains); });
    add_costs(o, costs, columns);
    return o;
}
#endif

// In a process of its own, which an alarm ends when the solver hangs.
[[maybe_unused]] std::string peer_fields(const std::string& name,
                                         outcome (*solve)(const std::vector<float>& costs, std::size_t n),
                                         const std::vector<float>& costs, std::size_t n) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process for " + name);
    if (child == 0) {
        alarm(peer_seconds); // a limit of CPU time (RLIMIT_CPU) would make the clock of the process coarse
        try {
            const outcome o = solve(costs, n);
            _exit(write(ends[1], &o, sizeof o) == sizeof o ? 0 : 1);
        } catch (...) {
            _exit(1);
        }
    }
    close(ends[1]);
    outcome o;
    const bool solved = read(ends[0], &o, sizeof o) == sizeof o;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    std::array<char, 160> text{};
    if (solved)
        std::snprintf(text.data(), text.size(), R"(, "%s_ms": %.6g, "%s_cost": %.17g)", name.c_str(), o.ms,
                      name.c_str(), o.cost);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        std::snprintf(text.data(), text.size(), R"(, "%s_failed": "over %u s")", name.c_str(), peer_seconds);
    else
        std::snprintf(text.data(), text.size(), R"(, "%s_failed": "status %d")", name.c_str(), status);
    return text.data();
}

void measure(const families::family& family, const std::string& folder, std::size_t n) {
    const std::vector<float> costs = family.costs(n);
    const std::string path = folder + "/" + std::string(family.name) + "_" + std::to_string(n) + ".f32";
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(costs.data()), static_cast<std::streamsize>(costs.size() * sizeof(float)));
    if (!file.flush()) throw std::runtime_error("cannot write " + path);

    const double stream_ms = best_ms([&] {
        asm volatile("" : : : "memory"); // or the compiler sums once for all repetitions
        volatile float kept = sum(costs);
        static_cast<void>(kept);
    });
    plait::assignment found;
    outcome plait;
    plait.ms = best_ms([&] { found = plait::hungarian{}(plait::matrix_view<const float>(costs.data(), n, n)); });
    add_costs(plait, costs, found.columns);
    if (std::fabs(plait.cost - found.cost) > 1e-12 * plait.magnitude) throw std::runtime_error("a wrong cost");

    std::string peers;
    if (n <= largest_peer_size) {
#ifdef PEER_LEMON
        peers += peer_fields("lemon", lemon_simplex, costs, n);
#endif
#ifdef PEER_DLIB
        if (family.name == "integers") peers += peer_fields("dlib", dlib_assignment, costs, n); // takes no others
#endif
    }
    std::printf(R"({"family": "%s", "n": %zu, "plait_ms": %.6g, "stream_ms": %.6g, )"
                R"("cost": %.17g, "magnitude": %.17g, "gap": %.17g%s})"
                "\n",
                std::string(family.name).c_str(), n, plait.ms, stream_ms, plait.cost, plait.magnitude, found.gap,
                peers.c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::size_t n = arguments.size() < 2 ? 0 : std::strtoul(arguments[1].c_str(), nullptr, 10);
    if (n == 0) throw std::invalid_argument("usage: hungarian_peer DIR SIZE [FAMILY...]");
    const std::span<const std::string> names = std::span(arguments).subspan(2);
    for (const std::string& name : names)
        if (std::ranges::find(families::all, name, &families::family::name) == std::ranges::end(families::all))
            throw std::invalid_argument("no family " + name);
    for (const families::family& family : families::all)
        if (names.empty() || std::ranges::find(names, family.name) != names.end()) measure(family, arguments[0], n);
} catch (const std::exception& fault) {
    std::fprintf(stderr, "hungarian_peer: %s\n", fault.what());
    return 1;
}
