#pragma once

#include <plait/io/mapped_file.hpp>
#include <plait/io/safetensors_header.hpp>
#include <plait/model/checkpoint.hpp>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace plait::io {

/// The tensors of a safetensors file, read from the disk as they are touched.
///
/// The views point into the file and live as long as this object or the one it is moved to. They may be misaligned for
/// their elements: the format allows it. Throws io_error when the file cannot be read or breaks any rule of the format.
/// Complexity: O(header) to open, whatever the size of the tensors.
///     auto a = io::open("a.safetensors");
///     for (const named_tensor& t : a.tensors()) ...
class safetensors_file {
public:
    explicit safetensors_file(std::filesystem::path path)
        : file_(std::move(path)), header_(read_safetensors_header(file_.bytes(), file_.path().string())) {}

    /// In the order of their bytes.
    std::vector<named_tensor> tensors() const {
        const std::byte* data = file_.bytes().data() + header_.data_begin;
        std::vector<named_tensor> result;
        result.reserve(header_.tensors.size());
        for (const safetensors_entry& e : header_.tensors)
            result.push_back({e.name, {e.type, data + e.begin, e.shape}});
        return result;
    }

    const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
    const std::filesystem::path& path() const { return file_.path(); }

private:
    mapped_file file_;
    safetensors_header header_;
};

/// Throws io_error when the file cannot be read or is not a valid safetensors file.
inline safetensors_file open(const std::filesystem::path& path) { return safetensors_file(path); }

} // namespace plait::io
