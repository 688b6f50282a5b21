#pragma once

#include <plait/io/file_descriptor.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

namespace plait::io {

/// A whole file as read-only memory; pages are read when they are touched. Moving keeps the addresses.
///
/// Throws io_error when the path is no regular file or cannot be opened. A file that another process shortens while
/// it is mapped ends this process (SIGBUS); a file that is replaced by renaming stays as it was.
///     mapped_file f("weights.bin");
///     f.bytes().size();
class mapped_file {
public:
    explicit mapped_file(std::filesystem::path path) : path_(std::move(path)) {
        const location here{.file = path_.string()};
        // O_NONBLOCK: a named pipe must be refused below, not waited for here.
        const detail::file_descriptor file(
            detail::retry([&] { return ::open(detail::c_path(path_), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
        if (!file) detail::throw_system_error("cannot open the file", here);
        struct stat status {};
        if (::fstat(file.get(), &status) != 0) detail::throw_system_error("cannot read the size of the file", here);
        if (S_ISDIR(status.st_mode)) throw io_error("this is a directory, expected a file", here);
        if (!S_ISREG(status.st_mode)) throw io_error("this is a device or a pipe, expected a regular file", here);
        if (status.st_size == 0) return; // an empty mapping does not exist

        const auto size = static_cast<std::size_t>(status.st_size);
        void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
        if (memory == MAP_FAILED) detail::throw_system_error("cannot map the file into memory", here);
        memory_ = {static_cast<const std::byte*>(memory), unmap{size}};
    }

    std::span<const std::byte> bytes() const { return {memory_.get(), memory_ ? memory_.get_deleter().size : 0}; }
    const std::filesystem::path& path() const { return path_; }

private:
    struct unmap {
        std::size_t size;
        void operator()(const std::byte* p) const { ::munmap(const_cast<std::byte*>(p), size); }
    };

    std::filesystem::path path_;
    std::unique_ptr<const std::byte, unmap> memory_;
};

} // namespace plait::io
