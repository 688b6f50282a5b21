#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/io/output_file.hpp>
#include <plait/io/safetensors_layout.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait::io {

/// What a new file says about itself; transformers wants {"format", "pt"}.
struct create_options {
    std::map<std::string, std::string> metadata = {};
};

/// Writes a safetensors file, block by block in any order, and puts it in its place when it is complete.
///
/// begin() once, then write() for every byte, then commit(). A writer that is dropped before commit() leaves nothing
/// behind, and an existing file as it was; the target may be open as an input meanwhile. The same tensors and metadata
/// give the same bytes, whatever their order. Throws io_error, before anything is written where that is possible.
///     auto out = io::create("fused.safetensors");
///     out.begin(plan);
///     out.write(0, 0, bytes_of_the_first_tensor);
///     out.commit();
class safetensors_writer {
public:
    explicit safetensors_writer(std::filesystem::path path, create_options options = {})
        : path_(std::move(path)), options_(std::move(options)) {}

    /// Fixes names, dtypes and shapes (the contents of the views are not read) and writes the header.
    /// Throws io_error on names that stand twice, are reserved or not UTF-8, and when the target cannot be written.
    void begin(std::span<const named_tensor> plan) {
        if (run_) throw error("begin() was called before", place());
        run_ = std::make_unique<run>(path_, detail::plan_safetensors(plan, options_.metadata, path_.string()));
    }

    /// Writes bytes, row-major, at a byte offset inside a tensor, which is given by its position in the plan. Safe from
    /// several threads. Every byte is to be written once. Throws shape_error on a range outside the tensor.
    void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes) {
        run& r = running();
        if (tensor >= r.layout.tensors.size())
            throw shape_error("write() to tensor number " + std::to_string(tensor) + ", expected less than "
                                  + std::to_string(r.layout.tensors.size()),
                              place());
        const auto& t = r.layout.tensors[tensor];
        if (offset > t.size || bytes.size() > t.size - offset)
            throw shape_error("write() of " + std::to_string(bytes.size()) + " bytes at byte " + std::to_string(offset)
                                  + ", expected to stay inside its " + std::to_string(t.size),
                              place(t.name));
        r.file.write(t.begin + offset, bytes);
        r.written[tensor] += bytes.size();
    }

    /// Puts the complete file in its place, durably. Throws io_error when bytes are missing; more may then be written.
    void commit() {
        run& r = running();
        for (std::size_t i = 0; i < r.written.size(); ++i)
            if (const auto& t = r.layout.tensors[i]; r.written[i] < t.size)
                throw io_error(std::to_string(r.written[i]) + " bytes were written, expected " + std::to_string(t.size),
                               place(t.name));
        r.file.commit();
        r.is_committed = true;
    }

    const std::filesystem::path& path() const { return path_; }

private:
    struct run {
        run(const std::filesystem::path& path, detail::safetensors_layout l)
            : layout(std::move(l)), file(path, layout.file_size), written(layout.tensors.size()) {
            file.write(0, std::as_bytes(std::span(layout.head)));
        }
        detail::safetensors_layout layout;
        output_file file;
        std::vector<std::atomic<std::uint64_t>> written; // bytes of each tensor
        bool is_committed = false;
    };

    run& running() const {
        if (!run_) throw error("begin() was not called yet", place());
        if (run_->is_committed) throw error("commit() was called before", place());
        return *run_;
    }
    location place(std::string tensor = {}) const { return {.file = path_.string(), .tensor = std::move(tensor)}; }

    std::filesystem::path path_;
    create_options options_;
    std::unique_ptr<run> run_; // empty until begin()
};

/// A writer for a new file, or for one that is to be replaced. Nothing is written before begin().
inline safetensors_writer create(std::filesystem::path path, create_options options = {}) {
    return safetensors_writer(std::move(path), std::move(options));
}

/// Writes a whole checkpoint; views with strides are written row-major. Memory: 1 MiB beside the checkpoint.
/// Throws io_error; the file is then as it was before.
///     io::save("copy.safetensors", io::open("a.safetensors"));
inline void save(const std::filesystem::path& path, const model_view& source, create_options options = {}) {
    safetensors_writer out = create(path, std::move(options));
    out.begin(source.tensors());
    std::vector<std::byte> block;
    for (std::size_t i = 0; i < source.tensors().size(); ++i) {
        const any_tensor_view& view = source.tensors()[i].view;
        if (view.is_row_major()) {
            out.write(i, 0, {view.bytes(), view.size_bytes()});
            continue;
        }
        const gathered_view from(view);
        const std::size_t width = bits(from.type()) / 8;
        block.resize(std::size_t{1} << 20);
        for (std::size_t first = 0; first < from.size(); first += block.size() / width) {
            const std::size_t count = std::min(block.size() / width, from.size() - first);
            from.copy(first, count, block.data());
            out.write(i, first * width, std::span(block).first(count * width));
        }
    }
    out.commit();
}

} // namespace plait::io
