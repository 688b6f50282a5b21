#pragma once

#include <plait/io/safetensors_header.hpp>
#include <plait/model/checkpoint.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace plait::io::detail {

/// Where everything of a file to be written goes. The tensors keep the order of the plan here.
struct safetensors_layout {
    struct range {
        std::string name;
        std::uint64_t begin; // from the start of the file
        std::uint64_t size;
    };
    std::string head; // the first bytes of the file: length, JSON, padding
    std::vector<range> tensors;
    std::uint64_t file_size;
};

/// A JSON string. Throws io_error unless s is valid UTF-8.
inline std::string json_string(const std::string& s, const location& at) {
    try {
        return nlohmann::json(s).dump();
    } catch (const nlohmann::json::type_error&) {
        throw io_error("the text " + plait::detail::in_quotes(excerpt(s)) + " is not valid UTF-8", at);
    }
}

inline void check_names(std::span<const named_tensor> plan, const std::string& file) {
    std::unordered_set<std::string_view> names;
    for (const named_tensor& t : plan) {
        const location at{.file = file, .tensor = t.name};
        if (t.name == metadata_key) throw io_error("this name is reserved for metadata, expected another", at);
        if (!names.insert(t.name).second) throw io_error("two tensors have this name, expected one", at);
    }
}

inline std::string json_of(const std::map<std::string, std::string>& metadata, const std::string& file) {
    std::string json = json_string(std::string(metadata_key), {}) + ":{";
    for (const auto& [key, value] : metadata)
        json += (json.back() == '{' ? "" : ",") + json_string(key, {.file = file}) + ":"
                + json_string(value, {.file = file});
    return json + "}";
}

inline std::string json_of(const named_tensor& t, std::uint64_t begin, std::uint64_t end, const std::string& file) {
    std::string json = json_string(t.name, {.file = file, .tensor = t.name}) + ":{\"dtype\":\"";
    json += std::string(name(t.view.type())) + "\",\"shape\":[";
    for (std::size_t axis = 0; axis < t.view.shape().rank(); ++axis)
        json += (axis ? "," : "") + std::to_string(t.view.shape()[axis]);
    return json + "],\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

/// The length of the JSON, the JSON, and the spaces that make the data start at a multiple of 8.
inline std::string framed(std::string json, const std::string& file) {
    json.resize((json.size() + 7) / 8 * 8, ' ');
    if (json.size() > header_limit)
        throw io_error("the header would have " + std::to_string(json.size()) + " bytes, expected at most "
                           + std::to_string(header_limit),
                       {.file = file});
    std::string length(length_size, '\0');
    for (std::size_t i = 0; i < length_size; ++i) length[i] = static_cast<char>(json.size() >> 8 * i & 0xff);
    return length + json;
}

/// The layout that the reference writer chooses: widest dtypes first, then by the bytes of the names; with sorted
/// metadata, so that equal checkpoints become equal files. Throws io_error before anything is written.
inline safetensors_layout plan_safetensors(std::span<const named_tensor> plan,
                                           const std::map<std::string, std::string>& metadata,
                                           const std::string& file) {
    check_names(plan, file);
    std::vector<std::size_t> order(plan.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const dtype left = plan[a].view.type();
        const dtype right = plan[b].view.type();
        return left != right ? left > right : plan[a].name < plan[b].name;
    });

    safetensors_layout result;
    result.tensors.resize(plan.size());
    std::string json = "{" + (metadata.empty() ? "" : json_of(metadata, file));
    std::uint64_t end = 0;
    for (const std::size_t i : order) {
        const std::uint64_t begin = end;
        const std::uint64_t size = plan[i].view.size_bytes();
        constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max() - 2 * header_limit;
        if (size > limit - begin)
            throw io_error("the file would have more than 2^63 bytes", {.file = file, .tensor = plan[i].name});
        end += size;
        json += (json.size() > 1 ? "," : "") + json_of(plan[i], begin, end, file);
        result.tensors[i] = {plan[i].name, begin, size};
    }
    result.head = framed(json + "}", file);
    for (auto& t : result.tensors) t.begin += result.head.size();
    result.file_size = result.head.size() + end;
    return result;
}

} // namespace plait::io::detail
