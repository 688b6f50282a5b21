#include <plait/io/safetensors_header.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

using plait::dtype;
namespace io = plait::io;

namespace {

io::safetensors_header read(const std::string& file) {
    return io::read_safetensors_header(std::as_bytes(std::span(file)), "x.safetensors");
}

/// The message must name the file and contain `part`; the place is returned.
plait::location refused(const std::string& file, const std::string& part) {
    try {
        read(file);
    } catch (const plait::io_error& e) {
        CHECK_THAT(e.what(), Catch::Matchers::Contains(part));
        CHECK(e.where().file == "x.safetensors");
        return e.where();
    }
    INFO(file.substr(0, 300));
    FAIL("the file was accepted, expected: " << part);
    return {};
}

std::string entry(const std::string& name, const std::string& type, const std::string& shape,
                  const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

/// A file of one F32 tensor "a" of 8 bytes whose shape or offsets are spelled as given.
std::string one(const std::string& shape, const std::string& offsets = "[0,8]") {
    return with_header("{" + entry("a", "F32", shape, offsets) + "}", 8);
}
std::string with_metadata(const std::string& json) { return with_header("{\"__metadata__\":" + json + "}"); }

const std::string valid = entry("a", "F32", "[2]", "[0,8]");

} // namespace

TEST_CASE("a header lists its tensors in the order of their bytes") {
    const auto h = read(with_header("{" + entry("late", "F32", "[2]", "[4,12]") + ","
                                        + entry("early", "BF16", "[1,2]", "[0,4]") + ",\"__metadata__\":{\"k\":\"v\"}}",
                                    12));
    REQUIRE(h.tensors.size() == 2);
    CHECK(h.tensors[0].name == "early");
    CHECK(h.tensors[0].type == dtype::bf16);
    CHECK(h.tensors[0].shape == plait::shape{1, 2});
    CHECK(h.tensors[1].name == "late");
    CHECK(std::tuple(h.tensors[1].begin, h.tensors[1].end) == std::tuple(4, 12));
    CHECK(h.metadata.at("k") == "v");
}

TEST_CASE("the freedoms of the format are accepted") {
    CHECK(read(with_header("{}")).tensors.empty());
    CHECK(read(with_header(" \t\r\n{}\t\r\n ")).tensors.empty());
    CHECK(read(with_metadata("null")).metadata.empty());
    CHECK(read(with_metadata("{}")).metadata.empty());
    CHECK(read(with_header("{" + entry("", "F32", "[]", "[0,4]") + "}", 4)).tensors[0].shape.size() == 1);
    CHECK(read(with_header("{" + entry("a\\n\\u00e9", "U8", "[1]", "[0,1]") + "}", 1)).tensors[0].name == "a\n\u00e9");
    CHECK(read(with_header("{" + entry("\\ud83d\\ude00", "U8", "[1]", "[0,1]") + "}", 1)).tensors[0].name
          == "\xF0\x9F\x98\x80");
    CHECK(read(with_header("{" + entry("f", "F6_E2M3", "[4]", "[0,3]") + "}", 3)).tensors.size() == 1);
    CHECK(read(with_header("{" + entry("u", "U8", "[1]", "[0,1]") + "," + entry("f", "F32", "[2]", "[1,9]") + "}", 9))
              .tensors.size()
          == 2);
    std::string rank25;
    for (int i = 0; i < 25; ++i) rank25 += i ? ",1" : "2";
    CHECK(read(one("[" + rank25 + "]")).tensors[0].shape.rank() == 25);
}

TEST_CASE("fields that the format does not know are ignored, whatever their value") {
    for (const std::string value : {"1", "-1", "2.5", "null", "true", "\"s\"", "[[1,{}],\"F32\"]",
                                    "{\"dtype\":\"F33\",\"shape\":-1,\"deep\":{\"data_offsets\":[]}}"}) {
        const auto h = read(with_header("{\"a\":{\"x\":" + value + ",\"dtype\":\"F32\",\"shape\":[2],\"y\":" + value
                                            + ",\"data_offsets\":[0,8]}}",
                                        8));
        CHECK(h.tensors[0].shape == plait::shape{2});
    }
}

TEST_CASE("integers are kept exactly") {
    const auto h = read(with_header("{" + entry("a", "F32", "[9007199254740993,0]", "[0,0]") + "}"));
    CHECK(h.tensors[0].shape[0] == 9007199254740993);
}

TEST_CASE("a length that does not fit the file is refused") {
    refused("", "0 bytes, expected at least 8");
    refused("1234567", "7 bytes, expected at least 8");
    refused(little_endian(60), "60 bytes, but only 0 follow");
    refused(little_endian(1000) + "{}", "1000 bytes, but only 2 follow");
    for (const std::uint64_t n :
         {~std::uint64_t{0}, ~std::uint64_t{0} - 7, std::uint64_t{0x7fffffff}, std::uint64_t{100'000'001}})
        refused(little_endian(n) + "{}", "expected at most 100000000");
    refused(little_endian(0) + "{}", "not valid JSON");
}

TEST_CASE("files of other kinds are named") {
    refused("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1", "git-lfs pointer");
    refused("<!DOCTYPE html><html></html>", "web page");
    refused("PK\3\4\x14\1\1\1\1\1\1", "zip archive");
    refused("\x80\2\x8a\nl\xfc\x9c\x46\xf9", "pickle");
    refused("GGUF\3\1\1\1\1\1", "GGUF");
    refused("\x89HDF\r\n\x1a\n", "HDF5");
    refused("{\"metadata\":{}}", "JSON text");
}

TEST_CASE("text that is not JSON is refused, with its offset in the file") {
    CHECK(refused(with_header("{" + valid + ",}", 8), "not valid JSON").offset == 8 + valid.size() + 2);
    CHECK(refused(with_header(std::string("{}\0\0", 4)), "NUL").offset == 10);
    refused(with_header("{}xx"), "not valid JSON");
    refused(with_header("{}{}"), "not valid JSON");
    refused(with_header("\xEF\xBB\xBF{}"), "byte order mark");
    refused(with_header("{\"a"), "not valid JSON");
    refused(with_header("{\"a\":"), "not valid JSON");
    refused(with_header("{'a':{}}"), "not valid JSON");
    refused(with_header("{\"\xFF\":{}}"), "UTF-8");
    refused(with_header("{\"\xED\xA0\x80\":{}}"), "UTF-8");
    refused(with_header("{\"\xC0\xAF\":{}}"), "UTF-8");
    refused(with_header("{\"a\nb\":{}}"), "control character");
    refused(with_header("{\"\\ud800\":{}}"), "surrogate");
    refused(with_header("{\"\\udc00\":{}}"), "surrogate");
    refused(with_header("{/**/}"), "not valid JSON");
    refused(one("[02]"), "not valid JSON");
    refused(one("[NaN]"), "not valid JSON");
    refused(one("[1e999]"), "not valid JSON");
}

TEST_CASE("a header is an object") {
    for (const std::string value : {"[]", "12345678", "\"text\"", "null", "true"})
        refused(with_header(value), "expected an object");
}

TEST_CASE("nesting is limited and costs no stack") {
    const std::string open(5000, '[');
    const std::string close(5000, ']');
    refused(with_header("{\"a\":" + open + close + "}"), "expected an object");
    refused(with_header("{\"a\":{\"x\":" + open + close + "}}"), "deeper than 127");
    refused(with_header(open + close), "expected an object");
    std::string objects = "{\"a\":{\"x\":";
    for (int i = 0; i < 5000; ++i) objects += "{\"k\":";
    refused(with_header(objects), "deeper than 127");
}

TEST_CASE("a key that stands twice is refused, however it is spelled") {
    CHECK(refused(with_header("{" + valid + "," + valid + "}", 8), "twice").tensor == "a");
    refused(with_header("{" + valid + "," + entry("a", "F32", "[2]", "[8,16]") + "}", 16), "twice");
    refused(with_header("{" + valid + "," + entry("\\u0061", "F32", "[2]", "[8,16]") + "}", 16), "twice");
    refused(with_header("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
            "\"dtype\" stands twice");
    refused(with_header("{\"__metadata__\":{},\"__metadata__\":{}}"), "twice");
    refused(with_header("{\"__metadata__\":null,\"__metadat\\u0061__\":null}"), "twice");
    refused(with_metadata("{\"k\":\"1\",\"k\":\"2\"}"), "\"k\" stands twice");
}

TEST_CASE("metadata maps strings to strings") {
    refused(with_metadata("{\"k\":1}"), "metadata value of \"k\" is 1, expected a string");
    refused(with_metadata("{\"k\":null}"), "expected a string");
    refused(with_metadata("{\"k\":{\"n\":\"v\"}}"), "expected a string");
    refused(with_metadata("{\"k\":[\"v\"]}"), "expected a string");
    refused(with_header("{" + entry("__metadata__", "F32", "[2]", "[0,8]") + "}", 8), "expected a string");
    for (const std::string value : {"[]", "3", "\"s\"", "false"}) refused(with_metadata(value), "an object of strings");
}

TEST_CASE("an entry has a dtype, a shape and two offsets") {
    CHECK(refused(with_header("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8), "no shape").tensor == "a");
    refused(with_header("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8), "no dtype");
    refused(with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[0]}}"), "no data_offsets");
    refused(with_header("{\"a\":{}}"), "no dtype");
    refused(with_header("{\"a\":null}"), "the entry is null, expected an object");
    refused(with_header("{\"a\":[\"F32\",[2],[0,8]]}", 8), "the entry is an array, expected an object");
    refused(with_header("{\"a\":{\"dtype\":{\"F32\":null},\"shape\":[2],\"data_offsets\":[0,8]}}", 8),
            "dtype is an object, expected a string");
    for (const std::string type : {"F33", "f32", "F3", "", "F32 ", "float32"})
        refused(with_header("{" + entry("a", type, "[2]", "[0,8]") + "}", 8), "the dtype is \"" + type + "\"");
}

TEST_CASE("extents and offsets are plain integers below 2^64") {
    for (const std::string number :
         {"-2", "-0", "2.0", "2e0", "2.9", "\"2\"", "null", "[2]", "true", "18446744073709551616", "{}"}) {
        refused(one("[" + number + "]"), "an extent is ");
        refused(one("[2]", "[0," + number + "]"), "an offset is ");
    }
    for (const std::string value : {"2", "null", "\"[2]\"", "{}"}) {
        refused(one(value), "shape is ");
        refused(one("[2]", value), "data_offsets is ");
    }
    refused(one("[2]", "[0,8,8]"), "expected only two");
    refused(one("[2]", "[8]"), "1 numbers, expected 2");
    refused(one("[2]", "[]"), "0 numbers, expected 2");
}

TEST_CASE("a shape whose size does not fit 64 bits is refused, from left to right") {
    refused(one("[4294967296,4294967296]", "[0,1099511627776]"), "too large");
    refused(one("[4611686018427387905,4]"), "too large");
    refused(one("[576460752303423489]"), "too large");
    refused(one("[9223372036854775808,9223372036854775808,0]", "[0,0]"), "too large");
    CHECK(read(with_header("{" + entry("a", "F32", "[0,9223372036854775808,9223372036854775808]", "[0,0]") + "}"))
              .tensors.size()
          == 1);
}

TEST_CASE("tensors follow each other without hole, overlap or rest") {
    const auto two = [](const std::string& second, std::size_t data) {
        return with_header("{" + valid + "," + entry("b", "F32", "[2]", second) + "}", data);
    };
    CHECK(read(two("[8,16]", 16)).tensors.size() == 2);
    CHECK(refused(two("[12,20]", 20), "expected a begin of 8").tensor == "b");
    refused(two("[4,12]", 12), "expected a begin of 8");
    refused(two("[0,8]", 8), "without hole or overlap");
    refused(one("[2]", "[4,12]"), "expected a begin of 0");
    refused(one("[2]", "[8,0]"), "not before the begin");
    refused(one("[2]", "[18446744073709551607,18446744073709551615]"), "expected a begin of 0");
    refused(two("[8,16]", 14), "14 bytes, expected 16: the file is cut off");
    refused(two("[8,16]", 16) + "PK\3\4", "20 bytes, expected 16");
    refused(with_header("{}", 1), "1 bytes, expected 0");
    for (const std::string at : {"[4,4]", "[99,99]"})
        refused(with_header("{" + valid + "," + entry("z", "F32", "[0]", at) + "}", 8), "without hole or overlap");
    for (const std::string at : {"[0,0]", "[8,8]"})
        CHECK(read(with_header("{" + entry("z", "F32", "[0]", at) + "," + valid + "}", 8)).tensors.size() == 2);
}

TEST_CASE("shape and dtype agree with the offsets") {
    refused(one("[4]"), "expected 16 bytes for shape [4] of F32");
    refused(one("[]"), "expected 4 bytes");
    refused(with_header("{" + entry("a", "F4", "[3]", "[0,1]") + "}", 1), "ends inside a byte");
    refused(with_header("{" + entry("a", "F6_E3M2", "[2]", "[0,2]") + "}", 2), "ends inside a byte");
    refused(one("[1000000]", "[0,4000000]"), "cut off");
}

TEST_CASE("messages stay short when the file is hostile") {
    const std::string junk(1'000'000, 'x');
    for (const std::string& file :
         {with_header("{\"a\":{\"dtype\":\"" + junk + "\"}}"), with_header("{\"" + junk),
          with_header("{\"a\":" + std::string(1'000'000, '1') + "}"), with_metadata("{\"" + junk + "\":1}")})
        CHECK_THROWS_MATCHES(read(file), plait::io_error,
                             Catch::Matchers::Predicate<plait::io_error>(
                                 [](const plait::io_error& e) { return std::string(e.what()).size() < 500; }));
}

TEST_CASE("a hundred thousand tensors are read, twenty thousand on one place are refused") {
    std::string attack = "{";
    std::string empty = "{";
    std::string many = "{";
    for (std::size_t i = 0; i < 100'000; ++i) {
        const std::string comma = i ? "," : "";
        const std::string name = "model.layers." + std::to_string(i) + ".weight";
        if (i < 20'000) attack += comma + entry(name, "F32", "[2]", "[0,8]");
        if (i < 20'000) empty += comma + entry(name, "F32", "[0]", "[0,0]");
        many += comma + entry(name, "U8", "[1]", "[" + std::to_string(i) + "," + std::to_string(i + 1) + "]");
    }
    refused(with_header(attack + "}", 8), "without hole or overlap");
    CHECK(read(with_header(empty + "}")).tensors.size() == 20'000);
    CHECK(read(with_header(many + "}", 100'000)).tensors.size() == 100'000);
}
