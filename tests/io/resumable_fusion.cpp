// Fuses two made-up models into a file, slowly enough to be killed meanwhile:  resumable_fusion OUT [SHARD_SIZE]
#include <plait/core/random.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/io/io.hpp>
#include <plait/merge/average.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

namespace {

plait::model made_up(std::uint64_t seed) {
    plait::model m;
    for (int t = 0; t < 12; ++t) {
        auto* x = reinterpret_cast<float*>(m.add("w" + std::to_string(t), plait::dtype::f32, {1'300'000}).bytes());
        plait::counter_random draw(seed + static_cast<std::uint64_t>(t));
        for (std::size_t i = 0; i < 1'300'000; ++i) x[i] = static_cast<float>(draw() >> 40);
    }
    return m;
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 2) return std::fputs("usage: resumable_fusion OUT [SHARD_SIZE]\n", stderr), 2;
        plait::io::create_options options{.resume = true};
        if (argc > 2) options.shard_size = std::stoull(argv[2]);
        auto out = plait::io::create(argv[1], options);
        const auto linger = [](double) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
        fuse_into(out, {made_up(1), made_up(100)}, plait::average{.weights = {.3, .7}},
                  {.threads = 2, .on_progress = linger});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "resumable_fusion: %s\n", e.what());
        return 1;
    }
}
