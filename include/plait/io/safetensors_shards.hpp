#pragma once

#include <plait/io/safetensors_index.hpp>
#include <plait/io/safetensors_layout.hpp>
#include <plait/model/checkpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plait::io::detail {

/// Which files are written, and where in them every tensor goes.
struct shard_plan {
    struct shard {
        std::string name; // of the file, beside the index
        std::string head; // its first bytes
        std::uint64_t size;
    };
    struct range {
        std::string name;
        std::size_t shard;
        std::uint64_t begin; // from the start of the shard
        std::uint64_t size;
    };
    std::vector<shard> shards;
    std::vector<range> tensors; // in the order of the plan
    std::optional<std::string> index;
};

/// Positions of the tensors of each shard: in the order of names, as many as fit.
inline std::vector<std::vector<std::size_t>> fill_shards(std::span<const named_tensor> plan, std::uint64_t shard_size) {
    std::vector<std::size_t> order(plan.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return plan[i].name; });
    std::vector<std::vector<std::size_t>> shards(1);
    std::uint64_t filled = 0;
    for (const std::size_t i : order) {
        const std::uint64_t size = plan[i].view.size_bytes();
        if (!shards.back().empty() && size > shard_size - std::min(filled, shard_size)) {
            shards.emplace_back();
            filled = 0;
        }
        shards.back().push_back(i);
        filled += size;
    }
    return shards;
}

/// "model-00002-of-00003.safetensors" beside "model.safetensors.index.json".
inline std::string shard_name(const std::string& index, std::size_t i, std::size_t count) {
    const auto digits = [](std::size_t n) {
        const std::string text = std::to_string(n);
        return std::string(5 - std::min<std::size_t>(5, text.size()), '0') + text;
    };
    return index.substr(0, index.size() - index_suffix.size()) + "-" + digits(i + 1) + "-of-" + digits(count)
           + ".safetensors";
}

/// Throws io_error before anything is written, option_error when the shard size is 0.
inline shard_plan plan_shards(std::span<const named_tensor> plan, const std::map<std::string, std::string>& metadata,
                              const std::filesystem::path& path, std::uint64_t shard_size) {
    check_names(plan, path.string());
    const std::string target = path.filename().string();
    const bool has_index = is_index(path);
    if (has_index && shard_size == 0)
        throw option_error("the shard size is 0, expected 1 or more bytes", {.file = path.string()});
    if (has_index && plan.empty())
        throw io_error("there is no tensor, expected one or more in an index", {.file = path.string()});
    shard_plan result;
    result.tensors.resize(plan.size());
    const auto shards = fill_shards(plan, has_index ? shard_size : std::numeric_limits<std::uint64_t>::max());
    weight_map files;
    std::uint64_t total = 0;
    for (std::size_t s = 0; s < shards.size(); ++s) {
        std::vector<named_tensor> own;
        for (const std::size_t i : shards[s]) own.push_back(plan[i]);
        safetensors_layout layout = plan_safetensors(own, metadata, path.string());
        const std::string file = has_index ? shard_name(target, s, shards.size()) : target;
        for (std::size_t k = 0; k < own.size(); ++k) {
            result.tensors[shards[s][k]] = {own[k].name, s, layout.tensors[k].begin, layout.tensors[k].size};
            if (has_index) check_shard_name(file, path.string(), own[k].name);
            files.emplace(own[k].name, file);
            total += layout.tensors[k].size;
        }
        result.shards.push_back({file, std::move(layout.head), layout.file_size});
    }
    if (!has_index) return result;
    json_string(target, {.file = path.string()}); // the index holds it
    result.index = write_index(files, total);
    if (result.index->size() > index_limit)
        throw io_error("the index would have " + std::to_string(result.index->size()) + " bytes, expected at most "
                           + std::to_string(index_limit),
                       {.file = path.string()});
    return result;
}

} // namespace plait::io::detail
