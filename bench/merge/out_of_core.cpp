// Fuses made-up checkpoints on disk, in several files each, and says how long that took beside a copy of one of them,
// and how much memory of its own it needed (pages of mapped files belong to the system):
//   merge_out_of_core FOLDER MEGABYTES MODELS [average|ties] [THREADS]
#include <plait/core/random.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/io/io.hpp>
#include <plait/merge/methods.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t tensor_elements = std::size_t{1} << 23; // 16 MiB each

plait::shape tensor_shape(std::size_t elements) { return {elements / 256, 256}; }

/// Writes bf16 tensors one by one, so that making them needs no memory either.
void make_up(const std::filesystem::path& path, std::size_t bytes, std::uint64_t seed) {
    std::vector<plait::named_tensor> plan;
    std::vector<std::byte> memory(std::min(bytes, 2 * tensor_elements));
    for (std::size_t left = bytes, t = 0; left >= 512; ++t) {
        const std::size_t elements = std::min(left / 2, tensor_elements) / 256 * 256;
        plan.push_back(
            {"layers." + std::to_string(t) + ".weight", {plait::dtype::bf16, memory.data(), tensor_shape(elements)}});
        left -= 2 * elements;
    }
    auto out = plait::io::create(path, {.shard_size = 1'000'000'000});
    out.begin(plan);
    for (std::size_t t = 0; t < plan.size(); ++t) {
        plait::counter_random draw(seed + t);
        auto* x = reinterpret_cast<plait::bfloat16*>(memory.data());
        for (std::size_t i = 0; i < plan[t].view.size(); ++i) {
            const std::uint64_t bits = draw.at(i / 4) >> i % 4 * 16;
            x[i] = plait::bfloat16(static_cast<float>(bits & 0xFFFF) / 32768.0F - 1);
        }
        out.write(t, 0, {memory.data(), plan[t].view.size_bytes()});
    }
    out.commit();
}

std::size_t anonymous_kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8));
    return 0;
}

/// The most memory of its own that the process had while this object lived.
class peak_memory {
public:
    std::size_t megabytes() const { return most_ / 1024; }
    ~peak_memory() {
        ends_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> ends_{false};
    std::atomic<std::size_t> most_{0};
    std::thread thread_{[this] {
        for (; !ends_; std::this_thread::sleep_for(std::chrono::milliseconds(2)))
            most_ = std::max(most_.load(), anonymous_kilobytes());
    }};
};

template <class Work>
double seconds_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const std::filesystem::path& folder, std::size_t megabytes, std::size_t count, const std::string& method,
         int threads) {
    const auto path = [&](const std::string& name) { return folder / (name + ".safetensors.index.json"); };
    for (std::size_t k = 0; k < count; ++k)
        if (!std::filesystem::exists(path("model" + std::to_string(k))))
            make_up(path("model" + std::to_string(k)), megabytes * 1'000'000, k * 1000);

    const peak_memory peak;
    std::vector<plait::io::safetensors_file> models;
    for (std::size_t k = 0; k < count; ++k) models.push_back(plait::io::open(path("model" + std::to_string(k))));
    const auto fuse = [&](bool provenance) {
        auto out = plait::io::create(path("fused"), {.shard_size = 1'000'000'000, .provenance = provenance});
        if (method == "ties")
            fuse_into(out, models, plait::task_vectors{models[0]} | plait::ties{}, {.threads = threads});
        else
            fuse_into(out, models, plait::average{}, {.threads = threads});
    };
    const double cp = seconds_of([&] {
        const std::string to = (folder / "copied").string();
        const std::string command = "mkdir -p '" + to + "' && cp '" + folder.string() + "'/model0-*.safetensors '" + to
                                    + "' && sync -f '" + to + "'";
        if (std::system(command.c_str()) != 0) throw plait::error("cp failed");
    });
    std::printf("%zu models of %zu MB, %s, %d threads: cp of one %.2f s, fused %.2f s", count, megabytes,
                method.c_str(), threads, cp, seconds_of([&] { fuse(false); }));
    std::printf(", with digests %.2f s", seconds_of([&] { fuse(true); }));
    std::printf("; peak anonymous memory %zu MB\n", peak.megabytes());
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 4)
            return std::fputs("usage: merge_out_of_core FOLDER MEGABYTES MODELS [average|ties] [THREADS]\n", stderr), 2;
        run(argv[1], std::stoul(argv[2]), std::stoul(argv[3]), argc > 4 ? argv[4] : "average",
            argc > 5 ? std::stoi(argv[5]) : 1);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "merge_out_of_core: %s\n", e.what());
        return 1;
    }
}
