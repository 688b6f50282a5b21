#include <plait/io/io.hpp>
#include <plait/model/model.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using plait::any_tensor_view;
using plait::dtype;
using plait::model;
using plait::model_view;
using plait::named_tensor;
namespace io = plait::io;
namespace fs = std::filesystem;

static_assert(plait::checkpoint<io::safetensors_file>);
static_assert(!std::is_copy_constructible_v<io::safetensors_file>);
static_assert(std::is_move_constructible_v<io::safetensors_file> && std::is_move_assignable_v<io::safetensors_file>);
static_assert(!std::is_copy_constructible_v<io::safetensors_writer>);
static_assert(std::is_move_constructible_v<io::safetensors_writer>);

namespace {

using bytes = std::vector<std::byte>;

bytes counted(std::size_t n, std::size_t first = 0) {
    bytes b(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<std::byte>((first + i) % 251);
    return b;
}
bytes bytes_of(const any_tensor_view& v) { return {v.bytes(), v.bytes() + v.size_bytes()}; }

/// A file that was written from these tensors, as bytes.
std::string saved(const model_view& m, io::create_options options = {}) {
    const temporary_folder folder;
    io::save(folder.path() / "m", m, std::move(options));
    CHECK(folder.file_count() == 1);
    return contents(folder.path() / "m");
}

/// Memory for views whose contents do not matter.
alignas(8) constexpr std::byte zeros[64]{};

void begin_refused(const std::vector<named_tensor>& plan, const std::string& part, io::create_options options = {}) {
    const temporary_folder folder;
    const auto path = folder.write("m", "old");
    auto out = io::create(path, std::move(options));
    CHECK_THROWS_WITH(out.begin(plan), Catch::Matchers::Contains(path.string()) && Catch::Matchers::Contains(part));
    CHECK(contents(path) == "old");
    CHECK(folder.file_count() == 1);
}

} // namespace

TEST_CASE("the bytes are those of the reference writer") {
    const any_tensor_view test(dtype::i32, zeros, {2, 2});
    CHECK(saved({{"test", test}})
          == little_endian(64) + R"({"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}})" + "    "
                 + std::string(16, '\0'));
    CHECK(saved(model{}) == little_endian(8) + "{}      ");
}

TEST_CASE("metadata comes first and sorted, names are escaped as the reference does") {
    const any_tensor_view scalar(dtype::u8, zeros, {});
    const std::string file =
        saved({{"q\"\\\n\x01\u00e9", scalar}}, {.metadata = {{"z", "1"}, {"format", "pt"}, {"a\t", "\x7f/"}}});
    const std::string json = "{\"__metadata__\":{\"a\\t\":\"\x7f/\",\"format\":\"pt\",\"z\":\"1\"},"
                             "\"q\\\"\\\\\\n\\u0001\u00e9\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}";
    CHECK(file.substr(8, json.size()) == json);
    const temporary_folder folder;
    const auto back = io::open(folder.write("m", file));
    CHECK(back.metadata() == std::map<std::string, std::string>{{"a\t", "\x7f/"}, {"format", "pt"}, {"z", "1"}});
    CHECK(back.tensors()[0].name == "q\"\\\n\x01\u00e9");
}

TEST_CASE("tensors lie widest dtype first, then by the bytes of their names, whatever the order of the plan") {
    const std::vector<dtype> canonical{
        dtype::u64,         dtype::i64,     dtype::f64,     dtype::c64,     dtype::f32, dtype::u32,
        dtype::i32,         dtype::bf16,    dtype::f16,     dtype::u16,     dtype::i16, dtype::f8_e5m2fnuz,
        dtype::f8_e4m3fnuz, dtype::f8_e8m0, dtype::f8_e4m3, dtype::f8_e5m2, dtype::i8,  dtype::u8,
        dtype::f6_e3m2,     dtype::f6_e2m3, dtype::f4,      dtype::boolean};
    std::vector<named_tensor> plan;
    const bytes data = counted(64);
    for (const dtype d : canonical)
        for (const std::string name : {"B", "a", "\u00e9"})
            plan.push_back({name + std::string(plait::name(d)), {d, data.data() + plan.size() % 7, {4}}});
    const temporary_folder folder;
    std::optional<std::string> first;
    for (std::size_t turn = 0; turn < plan.size(); turn += 11) {
        std::rotate(plan.begin(), plan.begin() + 11, plan.end());
        io::safetensors_writer out = io::create(folder.path() / "m");
        out.begin(plan);
        for (std::size_t i = 0; i < plan.size(); ++i)
            out.write(i, 0, {plan[i].view.bytes(), plan[i].view.size_bytes()});
        out.commit();
        if (!first) first = contents(folder.path() / "m");
        CHECK(contents(folder.path() / "m") == *first);
    }

    const auto back = io::open(folder.path() / "m").tensors();
    REQUIRE(back.size() == plan.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
        CHECK(back[i].view.type() == canonical[i / 3]);
        CHECK(back[i].name[0] == "Ba\xC3"[i % 3]);
    }
}

TEST_CASE("every dtype and shape comes back as it was") {
    const temporary_folder folder;
    for (std::size_t k = 0; k < plait::detail::dtype_table.size(); ++k) {
        const auto d = static_cast<dtype>(k);
        model m;
        for (const plait::shape& s : {plait::shape{}, {0}, {8}, {3, 0, 5}, {2, 3, 4}}) {
            if (s.size() * plait::bits(d) % 8 != 0) continue;
            const auto view = m.add("t" + plait::to_string(s), d, s);
            const bytes data = counted(view.size_bytes(), k);
            if (!data.empty()) std::memcpy(view.bytes(), data.data(), data.size());
        }
        io::save(folder.path() / "m", m);
        const io::safetensors_file file(folder.path() / "m");
        const model_view back(file);
        CHECK(back.tensors().size() == m.size());
        for (const named_tensor& t : std::as_const(m).tensors()) {
            CHECK(back.at(t.name).type() == d);
            CHECK(back.at(t.name).shape() == t.view.shape());
            CHECK(bytes_of(back.at(t.name)) == bytes_of(t.view));
        }
    }
}

TEST_CASE("misaligned tensors are readable as bytes, refused as typed views and saved again") {
    const temporary_folder folder;
    const std::string header = R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                               R"("f":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})";
    const auto file = io::open(folder.write("m", with_header(header + std::string(8 - header.size() % 8, ' '), 9)));
    const any_tensor_view f = model_view(file).at("f");
    CHECK(bytes_of(f) == bytes(8, std::byte{1}));
    CHECK_THROWS_AS(f.as<const float>(), plait::dtype_error);
    io::save(folder.path() / "aligned", file);
    const auto again = io::open(folder.path() / "aligned");
    CHECK(bytes_of(model_view(again).at("f")) == bytes_of(f));
    CHECK_NOTHROW(model_view(again).at("f").as<const float>());
}

TEST_CASE("views with strides are saved row-major") {
    std::vector<double> w(6);
    std::iota(w.begin(), w.end(), 0.0);
    const plait::tensor_view transposed(std::as_const(w).data(), {2, 3}, {1, 2});
    const plait::tensor_view reversed(std::as_const(w).data() + 5, {6}, {-1});
    const temporary_folder folder;
    io::save(folder.path() / "m", model_view{{"t", transposed}, {"r", reversed}});
    const auto file = io::open(folder.path() / "m");
    const auto t = model_view(file).at("t").as<const double>();
    const auto r = model_view(file).at("r").as<const double>();
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) CHECK(t(i, j) == transposed(i, j));
    for (std::size_t i = 0; i < 6; ++i) CHECK(r(i) == 5.0 - static_cast<double>(i));
}

TEST_CASE("a strided tensor of many blocks is saved whole") {
    constexpr std::size_t rows = 700;
    constexpr std::size_t columns = 1001;
    std::vector<std::uint32_t> w(rows * columns);
    std::iota(w.begin(), w.end(), 0u);
    const plait::tensor_view transposed(std::as_const(w).data(), {columns, rows}, {1, columns});
    const temporary_folder folder;
    io::save(folder.path() / "m", model_view{{"t", transposed}});
    const auto file = io::open(folder.path() / "m");
    const auto back = model_view(file).at("t").as<const std::uint32_t>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < columns; ++i)
        for (std::size_t j = 0; j < rows; ++j) wrong += back(i, j) != w[j * columns + i];
    CHECK(wrong == 0);
}

TEST_CASE("a view of an opened file outlives the name of the file and every move of its owner") {
    const temporary_folder folder;
    const bytes data = counted(16);
    io::save(folder.path() / "m", model_view{{"w", any_tensor_view(dtype::f32, data.data(), {4})}});
    io::safetensors_file file = io::open(folder.path() / "m");
    const any_tensor_view before = file.tensors()[0].view;
    const model_view kept = std::move(file);
    fs::remove(folder.path() / "m");
    CHECK(kept.at("w").bytes() == before.bytes());
    CHECK(bytes_of(before) == data);
}

TEST_CASE("a file may be overwritten by what is read from it") {
    const temporary_folder folder;
    const auto path = folder.path() / "m";
    const bytes data = counted(32);
    io::save(path, model_view{{"w", any_tensor_view(dtype::f32, data.data(), {8})}});
    const auto before = contents(path);
    io::save(path, io::open(path));
    CHECK(contents(path) == before);
}

TEST_CASE("names and metadata that the format cannot hold are refused before anything is written") {
    const any_tensor_view v(dtype::f32, zeros, {2});
    const any_tensor_view other(dtype::i64, zeros, {2});
    begin_refused({{"a", v}, {"b", v}, {"a", other}}, "tensor \"a\": two tensors have this name");
    begin_refused({{"__metadata__", v}}, "reserved");
    for (const std::string name : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xC3"})
        begin_refused({{name, v}}, "not valid UTF-8");
    begin_refused({{"a", v}}, "not valid UTF-8", {.metadata = {{"k", "\xFF"}}});
    begin_refused({{"a", v}}, "not valid UTF-8", {.metadata = {{"\xFF", "v"}}});
    begin_refused({{"a", v}}, "expected at most 100000000", {.metadata = {{"k", std::string(100'000'000, 'x')}}});
}

TEST_CASE("tensors that no file can hold are refused") {
    const any_tensor_view v(dtype::u8, zeros, {std::int64_t{1} << 60}, {0});
    std::vector<named_tensor> plan;
    for (char name = 'a'; name < 'j'; ++name) plan.push_back({std::string(1, name), v});
    begin_refused(plan, "2^63");
}

TEST_CASE("nothing exists on disk before begin, and only a hidden file before commit") {
    const temporary_folder folder;
    const auto path = folder.path() / "m";
    const bytes data = counted(8);
    const std::vector<named_tensor> plan{{"w", any_tensor_view(dtype::f32, data.data(), {2})}};
    {
        auto out = io::create(path);
        CHECK(folder.file_count() == 0);
        out.begin(plan);
        out.write(0, 0, data);
        CHECK_FALSE(fs::exists(path));
    }
    CHECK(folder.file_count() == 0);
    auto out = io::create(path);
    out.begin(plan);
    auto moved = std::move(out);
    moved.write(0, 0, data);
    moved.commit();
    CHECK(bytes_of(io::open(path).tensors()[0].view) == data);
    CHECK(folder.file_count() == 1);
}

TEST_CASE("a commit that lacks bytes is refused and keeps the old file; it works once they are there") {
    const temporary_folder folder;
    const auto path = folder.write("m", "old");
    const bytes data = counted(8);
    const std::vector<named_tensor> plan{{"v", any_tensor_view(dtype::u8, data.data(), {8})},
                                         {"w", any_tensor_view(dtype::f32, data.data(), {2})}};
    auto out = io::create(path);
    out.begin(plan);
    out.write(0, 0, data);
    out.write(1, 2, std::span(data).subspan(2));
    CHECK_THROWS_WITH(out.commit(), Catch::Matchers::Contains("tensor \"w\": 6 bytes were written, expected 8"));
    CHECK(contents(path) == "old");
    out.write(1, 0, std::span(data).first(2));
    out.commit();
    for (const named_tensor& t : io::open(path).tensors()) CHECK(t.view.size_bytes() == 8);
}

TEST_CASE("the steps of a writer come in their order") {
    const temporary_folder folder;
    const bytes data = counted(4);
    const std::vector<named_tensor> plan{{"w", any_tensor_view(dtype::f32, data.data(), {1})}};
    auto out = io::create(folder.path() / "m");
    CHECK_THROWS_WITH(out.write(0, 0, data), Catch::Matchers::Contains("begin() was not called"));
    CHECK_THROWS_WITH(out.commit(), Catch::Matchers::Contains("begin() was not called"));
    out.begin(plan);
    CHECK_THROWS_WITH(out.begin(plan), Catch::Matchers::Contains("begin() was called before"));
    out.write(0, 0, data);
    out.commit();
    CHECK_THROWS_WITH(out.commit(), Catch::Matchers::Contains("commit() was called before"));
    CHECK_THROWS_WITH(out.write(0, 0, data), Catch::Matchers::Contains("commit() was called before"));
}

TEST_CASE("a write outside its tensor is refused") {
    const temporary_folder folder;
    const bytes data = counted(4);
    auto out = io::create(folder.path() / "m");
    out.begin(std::vector<named_tensor>{{"w", any_tensor_view(dtype::u8, data.data(), {4})}});
    CHECK_THROWS_AS(out.write(1, 0, data), plait::shape_error);
    CHECK_THROWS_AS(out.write(0, 1, data), plait::shape_error);
    CHECK_THROWS_AS(out.write(0, 5, {}), plait::shape_error);
    CHECK_THROWS_AS(out.write(0, ~std::size_t{0}, data), plait::shape_error);
}

TEST_CASE("a save that cannot begin says why and leaves no trace") {
    const temporary_folder folder;
    fs::create_directory(folder.path() / "sub");
    const auto save = [&](const fs::path& path) { io::save(path, model{}); };
    CHECK_THROWS_WITH(save(folder.path() / "sub"), Catch::Matchers::Contains("directory"));
    CHECK_THROWS_WITH(save(folder.path() / "no" / "m"), Catch::Matchers::Contains("No such file"));
    CHECK(folder.file_count() == 1);
    CHECK(fs::is_empty(folder.path() / "sub"));
}

TEST_CASE("threads may write different ranges, of one tensor and of several") {
    const temporary_folder folder;
    constexpr std::size_t size = 96'000;
    constexpr std::size_t block = 1'000;
    const bytes data = counted(size);
    const any_tensor_view v(dtype::u8, data.data(), {size});
    auto out = io::create(folder.path() / "m");
    out.begin(std::vector<named_tensor>{{"a", v}, {"b", v}});
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::size_t at = t * block; at < size; at += 4 * block)
                for (const std::size_t tensor : {0u, 1u}) out.write(tensor, at, std::span(data).subspan(at, block));
        });
    for (auto& t : threads) t.join();
    out.commit();
    const auto file = io::open(folder.path() / "m");
    for (const named_tensor& t : file.tensors()) CHECK(bytes_of(t.view) == data);
}
