#include <plait/fuse/fuse.hpp>
#include <plait/fuse/verify.hpp>
#include <plait/io/io.hpp>
#include <plait/merge/average.hpp>
#include <plait/merge/dare.hpp>
#include <plait/merge/ties.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"
#include "support/networks.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace plait;

namespace {

model three_tensors(float value) {
    model m;
    for (const std::string name : {"b", "a", "c"}) {
        auto* x = reinterpret_cast<float*>(m.add(name, dtype::f32, {100}).bytes());
        for (std::size_t i = 0; i < 100; ++i) x[i] = value * static_cast<float>(i);
        value += 1;
    }
    return m;
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string index_of(const std::string& map) {
    return R"({"metadata":{"total_size":1200},"weight_map":{)" + map + "}}";
}

struct stop {};

run_options stop_at(double share) {
    return {.on_progress = [share](double done) {
        if (done >= share) throw stop{};
    }};
}

} // namespace

TEST_CASE("a checkpoint in several files is the same checkpoint") {
    const temporary_folder folder;
    const model m = three_tensors(1);
    const auto index = folder.path() / "model.safetensors.index.json";
    io::save(index, m, {.metadata = {{"format", "pt"}}, .shard_size = 900});
    CHECK(folder.file_count() == 3);
    const auto first = io::open(folder.path() / "model-00001-of-00002.safetensors");
    CHECK(first.tensors().size() == 2);
    CHECK(first.tensors()[0].name == "a");
    const auto whole = io::open(index);
    CHECK(networks::same_bits(whole, m));
    CHECK(whole.metadata().at("format") == "pt");

    io::save(index, m, {.shard_size = 1}); // every tensor is larger: a file each
    CHECK(networks::same_bits(io::open(index), m));
    CHECK(std::filesystem::exists(folder.path() / "model-00003-of-00003.safetensors"));
    CHECK_THROWS_AS(io::save(index, m, {.shard_size = 0}), option_error);
    std::filesystem::create_directory(folder.path() / "d.safetensors.index.json");
    CHECK_THROWS_AS(io::save(folder.path() / "d.safetensors.index.json", m, {.shard_size = 900}), io_error);
    CHECK(folder.file_count() == 7);  // six files, and the folder with nothing beside it
    io::save(index, io::open(index)); // onto its own files, which are mapped
    CHECK(networks::same_bits(io::open(index), m));
}

TEST_CASE("fusing from several files into several is fusing") {
    const temporary_folder folder;
    const auto in = folder.path() / "in.safetensors.index.json";
    const auto out_path = folder.path() / "out.safetensors.index.json";
    io::save(in, three_tensors(1), {.shard_size = 500});
    auto out = io::create(out_path, {.shard_size = 900});
    fuse_into(out, {io::open(in), three_tensors(5)}, average{});
    CHECK(networks::same_bits(io::open(out_path), fuse({three_tensors(1), three_tensors(5)}, average{})));
}

TEST_CASE("an index that its files belie is refused") {
    const temporary_folder folder;
    const auto path = folder.path() / "m.safetensors.index.json";
    io::save(path, three_tensors(1), {.shard_size = 900});
    const auto fails = [&](const std::string& text, const std::string& part) {
        write(path, text);
        CHECK_THROWS_WITH(io::open(path), Catch::Contains(part));
        CHECK_THROWS_AS(io::open(path), io_error);
    };
    const std::string one = "\"m-00001-of-00002.safetensors\"", two = "\"m-00002-of-00002.safetensors\"";
    write(path, index_of(R"("a":)" + one + R"(,"b":)" + one + R"(,"c":)" + two));
    CHECK(io::open(path).tensors().size() == 3);
    fails(index_of(R"("a":)" + one), "does not list");
    fails(index_of(R"("a":)" + one + R"(,"b":)" + two + R"(,"c":)" + two), "expected m-00001");
    fails(index_of(R"("a":)" + one + R"(,"b":)" + one + R"(,"c":)" + two + R"(,"d":)" + two), "lacks the tensor");
    fails(index_of(R"("a":)" + one + R"(,"b":)" + one + R"(,"c":)" + two + R"(,"a":)" + two), "twice");
    fails(index_of(R"("a":"nowhere.safetensors")"), "cannot open");
    for (const std::string name : {"../m.safetensors", "/etc/passwd", "a\\\\b.safetensors", ".safetensors",
                                   ".hidden.safetensors", "m.bin", "", "a\\u0000b.safetensors", ".."})
        fails(index_of(R"("a":")" + name + "\""), "expected the plain name");
    fails(index_of(R"("a":1)"), "expected a string");
    fails(index_of(""), "no tensor");
    fails(R"({"weight_map":[]})", "weight_map");
    fails(R"({"weight_map":{},"weight_map":{"a":)" + one + "}}", "twice");
    fails("[]", "weight_map");
    fails("{", "not valid JSON");
    fails("", "not valid JSON");
    fails(std::string(100000, '['), "levels");
}

TEST_CASE("a run that ends early is gone on with") {
    const temporary_folder folder;
    const auto path = folder.path() / "out.safetensors.index.json";
    const std::vector<model> models{three_tensors(1), three_tensors(2)};
    const io::create_options options{.shard_size = 900, .resume = true};
    const auto fused = [&](const io::create_options& how, const run_options& run) {
        auto out = io::create(path, how);
        fuse_into(out, models, average{}, run);
        return contents(path) + contents(folder.path() / "out-00001-of-00002.safetensors")
               + contents(folder.path() / "out-00002-of-00002.safetensors");
    };
    const std::string expected = fused(options, {});
    CHECK(folder.file_count() == 3); // the index, two files and no journal
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove(file);

    CHECK_THROWS_AS(fused(options, stop_at(.5)), stop);
    CHECK(!std::filesystem::exists(path));
    CHECK(folder.file_count() == 4); // three unfinished files and the journal
    int calls = 0;
    CHECK(fused(options, {.on_progress = [&](double) { ++calls; }}) == expected);
    CHECK(calls == 3);
    CHECK(folder.file_count() == 3);

    // What was damaged meanwhile, or belongs to another recipe, is made again.
    CHECK_THROWS_AS(fused(options, stop_at(.9)), stop);
    const auto partial = folder.path() / ".out-00001-of-00002.safetensors.partial";
    std::fstream(partial, std::ios::in | std::ios::out | std::ios::binary).seekp(-3, std::ios::end) << "x";
    CHECK(fused(options, {}) == expected);
    {
        auto out = io::create(path, options);
        CHECK_THROWS_AS(fuse_into(out, models, average{.weights = {.9, .1}}, stop_at(.9)), stop);
    }
    CHECK(fused(options, {}) == expected);

    // One process at a time.
    auto first = io::create(path, options);
    first.record({"average", {}});
    first.begin(models[0].tensors());
    auto second = io::create(path, options);
    second.record({"average", {}});
    CHECK_THROWS_AS(second.begin(models[0].tensors()), io_error);
    auto unknown = io::create(path, options);
    CHECK_THROWS_AS(unknown.begin(models[0].tensors()), option_error);
    CHECK_THROWS_AS(
        fuse_into(unknown, models, task_vectors{models[0]} | dare{.keep_mask = [](auto...) { return true; }}),
        option_error);
}

TEST_CASE("what an earlier run wrote counts once, and only without gaps") {
    const temporary_folder folder;
    const auto path = folder.path() / "out.safetensors";
    model m;
    m.add("w", dtype::u8, {200});
    const std::vector<std::byte> bytes(200, std::byte{7});
    const std::span<const std::byte> all(bytes);
    const auto begun = [&] {
        auto out = io::create(path, {.resume = true});
        out.record({"by hand", {}});
        out.begin(std::as_const(m).tensors());
        return out;
    };
    begun().write(0, 0, all.first(100));
    {
        auto out = begun();
        CHECK(out.has(0, 0, 100));
        CHECK(!out.has(0, 0, 50));
        CHECK(!out.has(0, 0, 200));
        out.write(0, 0, all.first(50));
        out.write(0, 50, all.first(50));
        CHECK_THROWS_AS(out.commit(), io_error); // the second half is not there
    }
    auto out = begun();
    out.write(0, 100, all.first(100));
    out.commit();
    CHECK(contents(path).ends_with(std::string(200, 7)));
}

TEST_CASE("a writer makes nothing that its reader refuses") {
    const temporary_folder folder;
    const model m = three_tensors(1);
    for (const std::string name : {".x.safetensors.index.json", "\xFF.safetensors.index.json"})
        CHECK_THROWS_AS(io::save(folder.path() / name, m), io_error);
    CHECK_THROWS_AS(io::save(folder.path() / "x.safetensors.index.json", model()), io_error);
    CHECK(folder.file_count() == 0);
    io::save(folder.path() / ".safetensors.index.json", m);
    CHECK(networks::same_bits(io::open(folder.path() / ".safetensors.index.json"), m));
    auto out = io::create(folder.path() / "x.safetensors", {.resume = true});
    out.record({"by_name(on(\"layers.?.weight\", ties{0.2}))", {}}); // a glob is no part that cannot be compared
}

TEST_CASE("anyone can check how a checkpoint came about") {
    const temporary_folder folder;
    const auto path = folder.path() / "out.safetensors";
    const std::vector<model> models{three_tensors(1), three_tensors(2)};
    const model base = three_tensors(0);
    const auto policy = task_vectors{base} | ties{.density = .5};
    {
        auto out = io::create(path);
        fuse_into(out, models, policy);
    }
    CHECK(verify(io::open(path), models, policy));
    CHECK(io::open(path).metadata().at("plait.recipe") == "ties{0.5, [], 1, 1, 0}");
    CHECK(io::open(path).metadata().at("plait.inputs") == digest(models[0]) + " " + digest(models[1]));
    const auto other_recipe = verify(io::open(path), models, task_vectors{base} | ties{.density = .4});
    CHECK((!other_recipe.same_recipe && other_recipe.same_inputs));
    const auto other_inputs = verify(io::open(path), std::vector<model>{models[0], models[0]}, policy);
    CHECK((other_inputs.same_recipe && !other_inputs.same_inputs));
    CHECK(!verify(io::open(path), models, task_vectors{models[0]} | ties{.density = .5}).same_inputs);

    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end) << "x";
    const auto damaged = verify(io::open(path), models, policy);
    CHECK((damaged.same_recipe && damaged.same_inputs));
    CHECK(damaged.different == std::vector<std::string>{"c"});
}
