#pragma once

#include <plait/io/safetensors_json.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace plait::io::detail {

inline constexpr std::string_view index_suffix = ".safetensors.index.json";
inline constexpr std::size_t index_limit = 100'000'000; // bytes; as of headers

inline bool is_index(const std::filesystem::path& path) { return path.filename().string().ends_with(index_suffix); }

/// What the index of a checkpoint in several files says: tensor -> name of the file beside it.
using weight_map = std::map<std::string, std::string>;

/// Files stand beside their index: no folders, nothing hidden, nothing else than safetensors.
inline void check_shard_name(const std::string& shard, const std::string& file, const std::string& tensor) {
    const bool is_plain = shard.find_first_of(std::string_view("/\\\0", 3)) == shard.npos && !shard.starts_with('.')
                          && shard.ends_with(".safetensors");
    if (!is_plain)
        throw io_error("the index says that the tensor is in " + plait::detail::in_quotes(excerpt(shard))
                           + ", expected the plain name of a .safetensors file",
                       {.file = file, .tensor = tensor});
}

/// Throws io_error unless the text is an index.
inline weight_map read_index(std::span<const std::byte> bytes, const std::string& file) {
    using json = nlohmann::json;
    const location here{.file = file};
    if (bytes.size() > index_limit)
        throw io_error("the index has " + std::to_string(bytes.size()) + " bytes, expected at most "
                           + std::to_string(index_limit),
                       here);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::set<std::string> keys; // of the weight map, to find those that stand twice, and of the top
    std::set<std::string> top;
    bool is_in_map = false;
    const auto look_at = [&](int depth, json::parse_event_t event, json& value) {
        if (depth > 64) throw io_error("the index has more than 64 levels, expected 2", here);
        if (event != json::parse_event_t::key) return true;
        const auto& key = value.get_ref<const std::string&>();
        if (depth == 1) is_in_map = key == "weight_map";
        if ((depth == 1 && !top.insert(key).second) || (depth == 2 && is_in_map && !keys.insert(key).second))
            throw io_error("the index has " + plait::detail::in_quotes(excerpt(key)) + " twice, expected once", here);
        return true;
    };
    json index;
    try {
        index = json::parse(text, look_at);
    } catch (const json::exception& e) {
        throw io_error("the index is not valid JSON: " + std::string(e.what()), here);
    }
    if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
        throw io_error("the index has no \"weight_map\" with the files of the tensors, expected one", here);
    weight_map result;
    for (const auto& [tensor, shard] : index["weight_map"].items()) {
        if (!shard.is_string())
            throw io_error("the index does not say the name of a file, expected a string",
                           {.file = file, .tensor = tensor});
        check_shard_name(shard.get<std::string>(), file, tensor);
        result.emplace(tensor, shard.get<std::string>());
    }
    if (result.empty()) throw io_error("the index lists no tensor, expected one or more", here);
    return result;
}

/// The text of an index.
inline std::string write_index(const weight_map& files, std::uint64_t total_size) {
    nlohmann::json index;
    index["metadata"]["total_size"] = total_size;
    index["weight_map"] = files;
    return index.dump(2) + "\n";
}

} // namespace plait::io::detail
