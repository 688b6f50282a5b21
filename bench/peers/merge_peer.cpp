// Times merge methods on three checkpoints, read into memory first, one thread, the output's memory reused.
// usage: merge_peer BASE.safetensors A.safetensors B.safetensors OUT_DIR
// Prints a line of JSON per method and writes its result to OUT_DIR/<method>.safetensors.
#include <plait/fuse/fuse.hpp>
#include <plait/io/io.hpp>
#include <plait/merge/methods.hpp>

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace plait;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

model in_memory(const std::filesystem::path& path) {
    const auto file = io::open(path);
    model m;
    for (const auto& [name, view] : file.tensors())
        std::memcpy(m.add(name, view.type(), view.shape()).bytes(), view.bytes(), view.size_bytes());
    return m;
}

template <class Policy>
void measure(const char* name, const std::vector<model>& models, const std::filesystem::path& folder,
             const Policy& policy) {
    model out = models[0];
    double best = std::numeric_limits<double>::infinity();
    double total = 0;
    for (int runs = 0; runs < 5 || total < 0.3; ++runs) {
        const double start = cpu_seconds();
        fuse_into(out, models, policy);
        const double spent = cpu_seconds() - start;
        best = std::min(best, spent);
        total += spent;
    }
    std::printf("{\"method\": \"%s\", \"ms\": %.4f}\n", name, 1e3 * best);
    io::save(folder / (std::string(name) + ".safetensors"), out);
}

} // namespace

int main(int argc, char** argv) try {
    if (argc != 5) {
        std::fputs("usage: merge_peer BASE.safetensors A.safetensors B.safetensors OUT_DIR\n", stderr);
        return EXIT_FAILURE;
    }
    const model base = in_memory(argv[1]);
    const std::vector<model> models{in_memory(argv[2]), in_memory(argv[3])};
    const std::filesystem::path folder = argv[4];
    measure("average", models, folder, average{});
    measure("task_arithmetic", models, folder, task_vectors{base} | task_arithmetic{.weights = {.6, .4}});
    measure("ties", models, folder, task_vectors{base} | ties{.density = .2, .weights = {.6, .4}});
    measure("breadcrumbs", models, folder, task_vectors{base} | breadcrumbs{.weights = {.6, .4}});
    measure("dare", models, folder, task_vectors{base} | dare{.density = .5, .rescale = rescaling::by_l1});
    measure("della", models, folder, task_vectors{base} | della{.density = .5, .rescale = rescaling::by_l1});
    measure("dare.by_density", models, folder, task_vectors{base} | dare{.density = .5});
    measure("della.by_probability", models, folder, task_vectors{base} | della{.density = .5});
    return EXIT_SUCCESS;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return EXIT_FAILURE;
}
