#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/io/journal.hpp>
#include <plait/io/output_file.hpp>
#include <plait/io/safetensors_shards.hpp>
#include <plait/model/model_view.hpp>
#include <plait/model/provenance.hpp>
#include <plait/version.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace plait::io {

/// What a new file says about itself, and how it is written.
struct create_options {
    std::map<std::string, std::string> metadata = {}; ///< transformers wants {"format", "pt"}
    /// Of each file, in bytes, where the path is that of an index (*.safetensors.index.json); a larger tensor gets a
    /// file of its own.
    std::uint64_t shard_size = 5'000'000'000;
    /// Adds to the metadata how fuse_into made the contents: plait.version, plait.recipe, plait.inputs and plait.base,
    /// for verify(). Costs a pass over the inputs.
    bool provenance = true;
    /// Keeps what is written when a run ends early, and goes on with it in a later run of the same recipe and inputs. A
    /// run of another recipe into the same files begins anew; what other files were begun stays beside them, hidden.
    bool resume = false;
};

/// Writes a safetensors file, or several and their index, block by block in any order, and puts them in their place
/// when they are complete.
///
/// begin() once, then write() for every byte, then commit(). A writer that is dropped before commit() leaves nothing
/// behind, unless it may resume, and an existing file as it was; the target may be open as an input meanwhile. The same
/// tensors and metadata give the same bytes, whatever their order. The index comes last: while the files are put in
/// their place there is none. Throws io_error, before anything is written where that is possible.
///     auto out = io::create("fused.safetensors");
///     out.begin(plan);
///     out.write(0, 0, bytes_of_the_first_tensor);
///     out.commit();
class safetensors_writer {
public:
    explicit safetensors_writer(std::filesystem::path path, create_options options = {})
        : path_(std::move(path)), options_(std::move(options)) {}

    bool wants_provenance() const { return options_.provenance || options_.resume; }

    /// Before begin(): how the contents come about. Throws option_error when that does not tell one run from another.
    void record(const provenance& p) {
        if (options_.resume && !p.tells_apart())
            throw option_error("the policy " + p.recipe
                                   + " has parts (?) that another run cannot be compared with, expected none with "
                                     ".resume = true",
                               place());
        options_.metadata["plait.version"] = version;
        options_.metadata["plait.recipe"] = p.recipe;
        options_.metadata["plait.inputs"] = p.input_list();
        if (!p.base.empty()) options_.metadata["plait.base"] = p.base;
        is_recorded_ = true;
    }

    /// Fixes names, dtypes and shapes (the contents of the views are not read) and writes the headers.
    /// Throws io_error on names that stand twice, are reserved or not UTF-8, and when a target cannot be written;
    /// option_error when the writer may resume but does not know what it writes.
    void begin(std::span<const named_tensor> plan) {
        if (run_) throw error("begin() was called before", place());
        std::error_code fault;                               // then it stays relative
        absolute_ = std::filesystem::absolute(path_, fault); // whatever becomes of the working directory
        if (fault) absolute_ = path_;
        if (options_.resume && !is_recorded_)
            throw option_error(
                "what is written cannot be told from what an earlier run wrote, expected record() before "
                "begin(), or .resume = false",
                place());
        run_ = std::make_unique<run>(detail::plan_shards(plan, options_.metadata, path_, options_.shard_size));
        open_files();
        if (options_.resume) go_on();
    }

    /// Writes bytes, row-major, at a byte offset inside a tensor, which is given by its position in the plan. Safe from
    /// several threads. Every byte is to be written once. Throws shape_error on a range outside the tensor.
    void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes) {
        run& r = running();
        if (tensor >= r.plan.tensors.size())
            throw shape_error("write() to tensor number " + std::to_string(tensor) + ", expected less than "
                                  + std::to_string(r.plan.tensors.size()),
                              place());
        const auto& t = r.plan.tensors[tensor];
        if (offset > t.size || bytes.size() > t.size - offset)
            throw shape_error("write() of " + std::to_string(bytes.size()) + " bytes at byte " + std::to_string(offset)
                                  + ", expected to stay inside its " + std::to_string(t.size),
                              place(t.name));
        if (r.is_there(tensor, offset, bytes.size())) return;
        r.files[t.shard]->write(t.begin + offset, bytes);
        if (r.log) r.log->add(tensor, offset, bytes);
        r.written[tensor] += bytes.size() - r.counted(tensor, offset, bytes.size());
    }

    /// Whether an earlier run has written these bytes. Safe from several threads.
    bool has(std::size_t tensor, std::size_t offset, std::size_t size) const {
        const run& r = running();
        std::size_t at = offset; // parts must follow each other without a gap
        for (auto part = r.earlier.find({tensor, at}); part != r.earlier.end() && at < offset + size;
             part = r.earlier.find({tensor, at}))
            at += part->second;
        return at == offset + size;
    }

    /// Puts the complete files in their place, durably. Throws io_error when bytes are missing; more may then be
    /// written.
    void commit() {
        run& r = running();
        for (std::size_t i = 0; i < r.written.size(); ++i)
            if (const auto& t = r.plan.tensors[i]; r.written[i] < t.size)
                throw io_error(std::to_string(r.written[i]) + " bytes were written, expected " + std::to_string(t.size),
                               place(t.name));
        for (const auto& file : r.files) file->flush();
        if (r.plan.index) remove_old_index();
        for (const auto& file : r.files) file->commit(); // the index comes last
        if (r.log) r.log->remove();
        r.is_committed = true;
    }

    const std::filesystem::path& path() const { return path_; }

private:
    struct run {
        explicit run(detail::shard_plan p) : plan(std::move(p)), written(plan.tensors.size()) {}

        bool is_there(std::size_t tensor, std::size_t offset, std::size_t size) const {
            const auto part = earlier.find({tensor, offset});
            return part != earlier.end() && part->second == size;
        }

        // Bytes of a range that an earlier run has written.
        std::size_t counted(std::size_t tensor, std::size_t offset, std::size_t size) const {
            std::size_t bytes = 0;
            for (auto part = earlier.lower_bound({tensor, 0}); part != earlier.lower_bound({tensor, offset + size});
                 ++part) {
                const std::size_t begin = std::max(offset, part->first.second);
                const std::size_t end = std::min(offset + size, part->first.second + part->second);
                if (begin < end) bytes += end - begin;
            }
            return bytes;
        }

        detail::shard_plan plan;
        std::vector<std::unique_ptr<output_file>> files; // of the shards, then of the index
        std::vector<std::atomic<std::uint64_t>> written; // bytes of each tensor
        std::optional<detail::journal> log;
        std::map<std::pair<std::size_t, std::size_t>, std::size_t> earlier; // tensor, offset -> size, without overlaps
        bool is_committed = false;
    };

    void open_files() {
        const auto rest = options_.resume ? output_file::unfinished::kept : output_file::unfinished::removed;
        try {
            if (options_.resume) {
                std::uint64_t key = 0;
                for (const auto& shard : run_->plan.shards) key = plait::detail::xxh64(shard.head, key);
                run_->log.emplace(
                    absolute_.parent_path() / ("." + path_.filename().string().substr(0, 200) + ".journal"), key);
            }
            for (const auto& shard : run_->plan.shards) {
                run_->files.push_back(
                    std::make_unique<output_file>(path_.parent_path() / shard.name, shard.size, rest));
                run_->files.back()->write(0, std::as_bytes(std::span(shard.head)));
            }
            if (const auto& index = run_->plan.index) {
                run_->files.push_back(std::make_unique<output_file>(path_, index->size(), rest));
                run_->files.back()->write(0, std::as_bytes(std::span(*index)));
            }
        } catch (...) {
            run_.reset(); // begin() may be called again
            throw;
        }
    }

    // Takes what the journal says is written, where the file really holds it.
    void go_on() {
        std::vector<std::byte> bytes;
        for (const auto& e : run_->log->entries()) {
            if (e.tensor >= run_->plan.tensors.size()) continue;
            const auto& t = run_->plan.tensors[e.tensor];
            if (e.size == 0 || e.offset > t.size || e.size > t.size - e.offset) continue;
            if (run_->counted(e.tensor, e.offset, e.size) > 0) continue;
            bytes.resize(e.size);
            if (!run_->files[t.shard]->read(t.begin + e.offset, bytes) || plait::detail::xxh64(bytes) != e.hash)
                continue;
            if (run_->earlier.try_emplace({e.tensor, e.offset}, e.size).second) run_->written[e.tensor] += e.size;
        }
    }

    // It must not speak of new files.
    void remove_old_index() const {
        std::error_code fault;
        std::filesystem::remove(absolute_, fault);
        if (fault) throw io_error("cannot remove the old index: " + fault.message(), place());
    }

    run& running() const {
        if (!run_) throw error("begin() was not called yet", place());
        if (run_->is_committed) throw error("commit() was called before", place());
        return *run_;
    }
    location place(std::string tensor = {}) const { return {.file = path_.string(), .tensor = std::move(tensor)}; }

    std::filesystem::path path_;
    std::filesystem::path absolute_;
    create_options options_;
    bool is_recorded_ = false;
    std::unique_ptr<run> run_; // empty until begin()
};

/// A writer for a new file, or for one that is to be replaced; for several files where the path is that of an index.
/// Nothing is written before begin().
///     io::create("fused/model.safetensors.index.json", {.shard_size = 2'000'000'000})
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
