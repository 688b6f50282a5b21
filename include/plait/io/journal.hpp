#pragma once

#include <plait/core/xxh64.hpp>
#include <plait/io/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace plait::io::detail {

/// A list of what has been written of an unfinished output, kept beside it. It belongs to one process at a time.
class journal {
public:
    /// `size` bytes of tensor `tensor` of the plan, from byte `offset` on, and their hash.
    struct entry {
        std::uint64_t tensor, offset, size, hash;
    };

    /// Opens or begins the journal of the output that `key` tells apart. Throws io_error when another process has it.
    journal(std::filesystem::path path, std::uint64_t key) : path_(std::move(path)) {
        const location here{.file = path_.string()};
        file_ = file_descriptor(
            retry([&] { return ::open(c_path(path_), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666); }));
        if (!file_) throw_system_error("cannot open the journal", here);
        if (retry([&] { return ::flock(file_.get(), LOCK_EX | LOCK_NB); }) != 0) {
            if (errno != EWOULDBLOCK) throw_system_error("cannot lock the journal", here);
            throw io_error("another process is writing this output, expected only one", here);
        }
        struct stat status {};
        if (::fstat(file_.get(), &status) != 0) throw_system_error("cannot look at the journal", here);
        if (status.st_nlink == 0)
            throw io_error("another process has just finished this output, expected only one", here);
        const std::array<std::uint64_t, 2> head{magic, key};
        std::array<std::uint64_t, 2> found{};
        if (read_at(0, found.data(), sizeof(found)) && found == head) {
            load();
            return;
        }
        if (::ftruncate(file_.get(), 0) != 0) throw_system_error("cannot begin the journal", here);
        append(head.data(), sizeof(head));
    }

    /// What an earlier process has written, as far as it got.
    const std::vector<entry>& entries() const { return entries_; }

    /// Safe from several threads. Throws io_error.
    void add(std::uint64_t tensor, std::uint64_t offset, std::span<const std::byte> bytes) const {
        const entry e{tensor, offset, bytes.size(), plait::detail::xxh64(bytes)};
        append(&e, sizeof(e));
    }

    void remove() noexcept { ::unlink(path_.c_str()); }

private:
    static constexpr std::uint64_t magic = 0x31'6c'6e'72'6a'74'6c'70; // "pltjrnl1"

    bool read_at(std::size_t offset, void* to, std::size_t size) const {
        return retry([&] { return ::pread(file_.get(), to, size, static_cast<off_t>(offset)); })
               == static_cast<ssize_t>(size);
    }
    // What is cut off in the middle is not there.
    void load() {
        entry e{};
        std::size_t at = 2 * sizeof(std::uint64_t);
        for (; read_at(at, &e, sizeof(e)); at += sizeof(e)) entries_.push_back(e);
        if (::ftruncate(file_.get(), static_cast<off_t>(at)) != 0)
            throw_system_error("cannot go on with the journal", {.file = path_.string()});
    }
    void append(const void* bytes, std::size_t size) const {
        const auto n = retry([&] { return ::write(file_.get(), bytes, size); });
        if (n != static_cast<ssize_t>(size))
            throw_system_error("cannot write the journal", {.file = path_.string()}, n < 0 ? errno : EIO);
    }

    std::filesystem::path path_;
    file_descriptor file_;
    std::vector<entry> entries_;
};

} // namespace plait::io::detail
