#include <plait/align/weight_matching.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/io/io.hpp>
#include <plait/merge/average.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/networks.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

using namespace plait;

namespace {

// A valid file with its tensors in the order of their names, forwards or backwards, and its header in the other order.
void write_unsorted(const std::filesystem::path& path, const model& m, bool backwards) {
    auto tensors = m.tensors();
    std::ranges::sort(tensors, {}, &named_tensor::name);
    if (backwards) std::ranges::reverse(tensors);
    std::string data;
    std::string header;
    for (const auto& [name, view] : tensors) {
        const std::size_t begin = data.size();
        data.append(reinterpret_cast<const char*>(view.bytes()), view.size_bytes());
        const std::string entry = '"' + name + R"(":{"dtype":")" + std::string(plait::name(view.type()))
                                  + R"(","shape":)" + to_string(view.shape()) + R"(,"data_offsets":[)"
                                  + std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
        header = header.empty() ? entry : entry + "," + header;
    }
    std::ofstream(path, std::ios::binary) << with_header("{" + header + "}") << data;
}

} // namespace

TEST_CASE("the fused file is the same bytes for any threads, any order in the inputs, any run") {
    const temporary_folder folder;
    const auto net = networks::convolutional();
    const model a = networks::random_model(net, 1, dtype::bf16); // bf16 and odd header lengths: misaligned data
    const model b = networks::random_model(net, 2, dtype::bf16);
    const auto path = [&](const char* name) { return folder.path() / name; };
    write_unsorted(path("a"), a, false);
    write_unsorted(path("b"), b, false);
    write_unsorted(path("a_backwards"), a, true);
    write_unsorted(path("b_backwards"), b, true);
    const auto fused = [&](const char* first, const char* second, int threads) {
        auto out = io::create(path("out"), {.metadata = {{"format", "pt"}}});
        fuse_into(out, {io::open(path(first)), io::open(path(second))}, weight_matching{net.spec} | average{},
                  {.threads = threads});
        return contents(path("out"));
    };
    const std::string expected = fused("a", "b", 1);
    REQUIRE(expected.size() > 1000);
    CHECK(fused("a", "b", 1) == expected);
    CHECK(fused("a", "b", 2) == expected);
    CHECK(fused("a_backwards", "b", 2) == expected);
    CHECK(fused("a", "b_backwards", 1) == expected);
    CHECK(networks::same_bits(io::open(path("out")), fuse({a, b}, weight_matching{net.spec} | average{})));
}

TEST_CASE("a fusion that fails leaves the old file and nothing else") {
    const temporary_folder folder;
    const auto net = networks::mlp({4, 8, 3});
    const model a = networks::random_model(net, 1);
    const auto path = folder.path() / "model";
    io::save(path, a);
    const std::string before = contents(path);
    const auto policy = weight_matching{net.spec} | average{};
    const auto file = io::open(path);
    {
        auto out = io::create(path);
        model wrong = networks::random_model(networks::mlp({4, 9, 3}), 1);
        CHECK_THROWS_AS(fuse_into(out, {file, wrong}, policy), shape_error);
        struct stop {};
        const run_options options{.on_progress = [](double share) {
            if (share == 1) throw stop{};
        }};
        CHECK_THROWS_AS(fuse_into(out, {file, a}, policy, options), stop);
    }
    CHECK(contents(path) == before);
    CHECK(folder.file_count() == 1);

    auto out = io::create(path, {.provenance = false}); // onto an input that is still mapped
    fuse_into(out, {file, a}, policy);
    CHECK(contents(path) == before);
}
