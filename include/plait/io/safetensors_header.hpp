#pragma once

#include <plait/io/safetensors_json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace plait::io {

static_assert(std::endian::native == std::endian::little, "safetensors files need a little-endian host");

/// What a safetensors file says about its contents.
struct safetensors_header {
    std::vector<safetensors_entry> tensors; ///< in the order of their bytes
    std::map<std::string, std::string> metadata;
    std::size_t data_begin; ///< where the tensors' bytes start in the file
};

namespace detail {

inline constexpr std::size_t length_size = 8;            // a file begins with the length of its header
inline constexpr std::size_t header_limit = 100'000'000; // that of the reference reader and writer

/// What the file probably is instead, for the mistakes that people make most.
inline std::string_view mistaken_for(std::string_view file) {
    using namespace std::string_view_literals;
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kinds{{
        {"version https://git-lfs"sv, "; this is a git-lfs pointer: fetch the file itself with git lfs pull"},
        {"PK\3\4"sv, "; this is a zip archive, such as a PyTorch .pt or .bin file: convert it to safetensors"},
        {"\x80"sv, "; this is a Python pickle, such as an old PyTorch file: convert it to safetensors"},
        {"GGUF"sv, "; this is a GGUF file: convert it to safetensors"},
        {"\x89HDF"sv, "; this is an HDF5 file: convert it to safetensors"},
        {"<"sv, "; this is a web page, perhaps of a failed download"},
        {"\n<"sv, "; this is a web page, perhaps of a failed download"},
        {"{"sv, "; this is JSON text, perhaps the index of a model in several files: open those"},
    }};
    for (const auto& [start, hint] : kinds)
        if (file.starts_with(start)) return hint;
    return {};
}

/// The length of the header, in bytes. Throws io_error unless it stands in the file.
inline std::size_t header_length(std::string_view file, const std::string& name) {
    // The first 8 bytes of other formats are a number far beyond the limit; those of a cut-off file are not.
    const auto fail = [&](const std::string& fault, bool is_foreign) {
        throw io_error(fault + std::string(is_foreign ? mistaken_for(file) : ""), {.file = name});
    };
    if (file.size() < length_size)
        fail("the file has " + std::to_string(file.size()) + " bytes, expected at least 8 for a length", true);
    std::uint64_t length = 0;
    for (std::size_t i = length_size; i-- > 0;) length = length << 8 | static_cast<unsigned char>(file[i]);
    if (length > header_limit)
        fail("the header is said to have " + std::to_string(length) + " bytes, expected at most "
                 + std::to_string(header_limit),
             true);
    if (length > file.size() - length_size)
        fail("the header is said to have " + std::to_string(length) + " bytes, but only "
                 + std::to_string(file.size() - length_size) + " follow",
             false);
    return length;
}

inline safetensors_json parse_json(std::string_view json, const std::string& name) {
    // nlohmann-json takes a NUL for the end of the text, and skips a byte order mark.
    if (const auto nul = json.find('\0'); nul != json.npos)
        throw io_error("the header is not valid JSON: a NUL byte, expected spaces as padding",
                       {.file = name, .offset = length_size + nul});
    if (json.starts_with("\xEF\xBB\xBF"))
        throw io_error("the header is not valid JSON: a byte order mark, expected {",
                       {.file = name, .offset = length_size});
    safetensors_json contents(name);
    nlohmann::json::sax_parse(json.data(), json.data() + json.size(), &contents);
    return contents;
}

/// Bytes of the elements. Throws io_error when the product, from the left, does not fit or ends inside a byte.
inline std::size_t byte_count(const safetensors_entry& e, const location& at) {
    std::size_t n = 1;
    bool fits = true;
    for (const std::size_t extent : e.shape) fits = fits && !__builtin_mul_overflow(n, extent, &n);
    if (!fits || __builtin_mul_overflow(n, bits(e.type), &n))
        throw io_error("shape " + excerpt(to_string(e.shape)) + " of " + std::string(name(e.type))
                           + " is too large, expected less than 2^64 bits",
                       at);
    if (n % 8 != 0)
        throw io_error("shape " + excerpt(to_string(e.shape)) + " of " + std::string(name(e.type))
                           + " ends inside a byte, expected a multiple of 8 bits",
                       at);
    return n / 8;
}

/// Throws io_error unless the tensors fill [0, size) in their order, without hole or overlap.
inline void check_offsets(const std::vector<safetensors_entry>& tensors, std::size_t size, const std::string& file) {
    std::size_t expected = 0;
    for (const safetensors_entry& e : tensors) {
        const location at{.file = file, .tensor = e.name};
        const std::string found = "data_offsets are [" + std::to_string(e.begin) + ", " + std::to_string(e.end) + "]";
        if (e.end < e.begin) throw io_error(found + ", expected an end that is not before the begin", at);
        if (e.begin != expected)
            throw io_error(found + ", expected a begin of " + std::to_string(expected)
                               + ": tensors follow each other without hole or overlap",
                           at);
        if (const std::size_t n = byte_count(e, at); n != e.end - e.begin)
            throw io_error(found + ", expected " + std::to_string(n) + " bytes for shape " + excerpt(to_string(e.shape))
                               + " of " + std::string(name(e.type)),
                           at);
        expected = e.end;
    }
    if (expected != size)
        throw io_error("the data has " + std::to_string(size) + " bytes, expected " + std::to_string(expected)
                           + (size < expected ? ": the file is cut off" : ": the end of the last tensor"),
                       {.file = file});
}

} // namespace detail

/// Reads and checks the header of a safetensors file that lies in memory; `name` is for messages.
///
/// Throws io_error on anything but a well-formed file whose tensors fill it without hole, overlap or rest. Unlike the
/// reference reader it also refuses keys that stand twice. Complexity: O(h log t) for h bytes of header, t tensors.
/// Source: the format's reference implementation, tensor.rs (github.com/huggingface/safetensors).
///     mapped_file f("a.safetensors");
///     for (const safetensors_entry& e : read_safetensors_header(f.bytes(), "a.safetensors").tensors) ...
inline safetensors_header read_safetensors_header(std::span<const std::byte> file, const std::string& name) {
    const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
    const std::size_t data_begin = detail::length_size + detail::header_length(text, name);
    detail::safetensors_json contents =
        detail::parse_json(text.substr(detail::length_size, data_begin - detail::length_size), name);
    const auto offsets = [](const safetensors_entry& e) { return std::tuple(e.begin, e.end); };
    std::ranges::stable_sort(contents.tensors, {}, offsets);
    detail::check_offsets(contents.tensors, file.size() - data_begin, name);
    return {std::move(contents.tensors), std::move(contents.metadata), data_begin};
}

} // namespace plait::io
