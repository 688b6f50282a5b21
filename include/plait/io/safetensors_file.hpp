#pragma once

#include <plait/io/mapped_file.hpp>
#include <plait/io/safetensors_header.hpp>
#include <plait/io/safetensors_index.hpp>
#include <plait/model/checkpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plait::io {

/// The tensors of a safetensors file, or of all files of an index (*.safetensors.index.json), read from the disk as
/// they are touched.
///
/// The views point into the files and live as long as this object or the one it is moved to. They may be misaligned for
/// their elements: the format allows it. Throws io_error when a file cannot be read or breaks any rule of the format,
/// and when an index and its files disagree about a tensor; the total size that an index states is not looked at.
/// Complexity: O(headers) to open, whatever the size of the tensors.
///     auto a = io::open("a.safetensors");
///     for (const named_tensor& t : a.tensors()) ...
class safetensors_file {
public:
    explicit safetensors_file(std::filesystem::path path) : path_(std::move(path)) {
        if (!detail::is_index(path_)) {
            add(path_);
            return;
        }
        const mapped_file index(path_);
        const auto files = detail::read_index(index.bytes(), path_.string());
        std::map<std::string, std::size_t> shards;
        for (const auto& [tensor, shard] : files) shards.emplace(shard, 0);
        for (auto& [shard, position] : shards) {
            position = parts_.size();
            add(path_.parent_path() / shard);
        }
        check(files, shards);
    }

    safetensors_file(const safetensors_file&) = delete;
    safetensors_file& operator=(const safetensors_file&) = delete;
    safetensors_file(safetensors_file&&) = default;
    safetensors_file& operator=(safetensors_file&&) = default;

    /// In the order of their bytes, file after file in the order of their names.
    std::vector<named_tensor> tensors() const {
        std::vector<named_tensor> result;
        for (const part& p : parts_) {
            const std::byte* data = p.file.bytes().data() + p.header.data_begin;
            for (const safetensors_entry& e : p.header.tensors)
                result.push_back({e.name, {e.type, data + e.begin, e.shape}});
        }
        return result;
    }

    /// Of the first file.
    const std::map<std::string, std::string>& metadata() const { return parts_[0].header.metadata; }
    const std::filesystem::path& path() const { return path_; }

private:
    struct part {
        mapped_file file;
        safetensors_header header;
    };

    void add(const std::filesystem::path& path) {
        mapped_file file(path);
        safetensors_header header = read_safetensors_header(file.bytes(), path.string());
        parts_.push_back({std::move(file), std::move(header)});
    }

    // The index and the files must say the same of every tensor.
    void check(const detail::weight_map& files, const std::map<std::string, std::size_t>& shards) const {
        std::size_t found = 0;
        for (const auto& [shard, position] : shards) {
            const std::string file = parts_[position].file.path().string();
            for (const safetensors_entry& e : parts_[position].header.tensors) {
                const auto listed = files.find(e.name);
                if (listed == files.end() || listed->second != shard)
                    throw io_error(listed == files.end() ? "the index does not list the tensor, expected " + shard
                                                         : "the index says that the tensor is in " + listed->second
                                                               + ", expected " + shard,
                                   {.file = file, .tensor = e.name});
                ++found;
            }
        }
        if (found == files.size()) return;
        for (const auto& [tensor, shard] : files) {
            const auto& entries = parts_[shards.at(shard)].header.tensors;
            if (std::ranges::find(entries, tensor, &safetensors_entry::name) == entries.end())
                throw io_error("the file lacks the tensor, expected it as the index says",
                               {.file = parts_[shards.at(shard)].file.path().string(), .tensor = tensor});
        }
    }

    std::filesystem::path path_;
    std::vector<part> parts_;
};

/// Throws io_error when the file cannot be read or is not a valid safetensors file.
inline safetensors_file open(const std::filesystem::path& path) { return safetensors_file(path); }

} // namespace plait::io
