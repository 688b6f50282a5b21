#pragma once

#include <plait/io/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace plait::io {

/// A file that appears under its name complete or not at all.
///
/// Bytes go to a hidden file beside the target, which commit() moves over it. Without commit() the hidden file is
/// removed, unless it is to be kept, and an existing target stays as it was. The target may be in use as a mapped_file
/// meanwhile. Throws io_error, at construction when the target is a directory or a device, when its folder cannot be
/// written, or when the disk is known to lack `size` bytes.
///     output_file out("weights.bin", bytes.size());
///     out.write(0, bytes);
///     out.commit();
class output_file {
public:
    /// What becomes of an output that is not committed; one that is kept can be gone on with.
    enum class unfinished { removed, kept };

    output_file(std::filesystem::path target, std::uint64_t size, unfinished rest = unfinished::removed)
        : target_(std::move(target)), rest_(rest) {
        const std::optional<mode_t> mode = mode_of_target();
        open_folder();
        if (rest_ == unfinished::kept)
            open_partial(size);
        else
            create_hidden();
        try {
            // Tools and users expect a rewritten file to keep its permissions; not every file system has any.
            if (mode) static_cast<void>(::fchmod(hidden_.get(), *mode));
            reserve(size);
        } catch (...) {
            if (rest_ == unfinished::removed) remove_hidden();
            throw;
        }
    }
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;
    ~output_file() {
        if (hidden_ && rest_ == unfinished::removed) remove_hidden();
    }

    const std::filesystem::path& path() const { return target_; }

    /// Writes at a byte offset. Safe from several threads. Throws io_error.
    void write(std::uint64_t offset, std::span<const std::byte> bytes) const {
        while (!bytes.empty()) {
            const auto at = static_cast<off_t>(offset);
            const auto n = detail::retry([&] { return ::pwrite(hidden_.get(), bytes.data(), bytes.size(), at); });
            if (n <= 0) detail::throw_system_error("cannot write", place(offset), n < 0 ? errno : EIO);
            offset += static_cast<std::uint64_t>(n);
            bytes = bytes.subspan(static_cast<std::size_t>(n));
        }
    }

    /// Reads what was written at a byte offset; false where there is less.
    bool read(std::uint64_t offset, std::span<std::byte> to) const {
        while (!to.empty()) {
            const auto at = static_cast<off_t>(offset);
            const auto n = detail::retry([&] { return ::pread(hidden_.get(), to.data(), to.size(), at); });
            if (n <= 0) return false;
            offset += static_cast<std::uint64_t>(n);
            to = to.subspan(static_cast<std::size_t>(n));
        }
        return true;
    }

    /// Makes what was written durable.
    void flush() const {
        if (detail::retry([&] { return ::fsync(hidden_.get()); }) != 0)
            detail::throw_system_error("cannot flush to the disk", place());
    }

    /// Makes the file durable and puts it in the place of the target; nothing can be written afterwards.
    void commit() {
        if (!hidden_) throw io_error("the file was committed before", place());
        // Order matters: a crash must never leave the new name on old or missing bytes.
        flush();
        const std::string name = target_.filename().string();
        if (::renameat(folder_.get(), hidden_name_.c_str(), folder_.get(), name.c_str()) != 0)
            detail::throw_system_error("cannot move the finished file to its place", place());
        hidden_ = {};
        // EINVAL: a file system that cannot flush folders.
        if (detail::retry([&] { return ::fsync(folder_.get()); }) != 0 && errno != EINVAL)
            detail::throw_system_error("the file is in its place, but its folder cannot be flushed", place());
    }

private:
    location place(std::optional<std::uint64_t> offset = {}) const {
        return {.file = target_.string(), .offset = offset};
    }

    std::optional<mode_t> mode_of_target() const {
        struct stat status {};
        if (::stat(detail::c_path(target_), &status) != 0) return std::nullopt;
        if (S_ISDIR(status.st_mode)) throw io_error("the target is a directory, expected a file name", place());
        if (!S_ISREG(status.st_mode))
            throw io_error("the target is a device or a pipe, expected a regular file", place());
        return status.st_mode & 07777;
    }

    // Everything goes through the folder's descriptor, so a change of the working directory does no harm.
    void open_folder() {
        if (!target_.has_filename()) throw io_error("the target is a folder, expected a file name", place());
        const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
        folder_ = detail::file_descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!folder_) detail::throw_system_error("cannot open its folder", place());
    }

    void create_hidden() {
        constexpr int attempts = 1000;
        // Names of at most 255 bytes are common; the prefix only tells people where the file belongs.
        const std::string prefix = "." + target_.filename().string().substr(0, 200) + ".tmp-";
        for (int i = 0; i < attempts; ++i) {
            hidden_name_ = prefix + std::to_string(i);
            hidden_ = detail::file_descriptor(
                ::openat(folder_.get(), hidden_name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
            if (hidden_) return;
            if (errno != EEXIST && errno != EINTR) break;
        }
        detail::throw_system_error("cannot create a temporary file beside it", place());
    }

    void open_partial(std::uint64_t size) {
        hidden_name_ = "." + target_.filename().string().substr(0, 200) + ".partial";
        hidden_ = detail::file_descriptor(
            ::openat(folder_.get(), hidden_name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
        if (!hidden_) detail::throw_system_error("cannot open the unfinished file beside it", place());
        if (detail::retry([&] { return ::ftruncate(hidden_.get(), static_cast<off_t>(size)); }) != 0)
            detail::throw_system_error("cannot give it " + std::to_string(size) + " bytes", place());
    }

    // A full disk is better known now than after hours; file systems that cannot reserve report it later.
    void reserve([[maybe_unused]] std::uint64_t size) {
#ifdef __linux__
        if (size == 0) return;
        const auto length = static_cast<off_t>(size);
        if (detail::retry([&] { return ::fallocate(hidden_.get(), 0, 0, length); }) == 0) return;
        if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
            detail::throw_system_error("cannot reserve " + std::to_string(size) + " bytes", place());
#endif
    }

    void remove_hidden() noexcept { ::unlinkat(folder_.get(), hidden_name_.c_str(), 0); }

    std::filesystem::path target_;
    unfinished rest_;
    detail::file_descriptor folder_;
    std::string hidden_name_;
    detail::file_descriptor hidden_;
};

} // namespace plait::io
