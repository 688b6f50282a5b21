#pragma once

#include <plait/core/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace plait::io::detail {

/// An open file of the operating system, closed at the end of its scope.
class file_descriptor {
public:
    file_descriptor() = default;
    explicit file_descriptor(int fd) : fd_(fd) {}
    file_descriptor(file_descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    file_descriptor& operator=(file_descriptor other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~file_descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_ = -1;
};

/// Throws io_error: what failed, and why the system says it did.
[[noreturn]] inline void throw_system_error(std::string_view failed, location at, int reason = errno) {
    throw io_error(std::string(failed) + ": " + std::generic_category().message(reason), std::move(at));
}

/// The path as the system takes it. Throws io_error when it would take a part of it only.
inline const char* c_path(const std::filesystem::path& path) {
    if (path.native().find('\0') != path.native().npos)
        throw io_error("a NUL byte follows in the path, expected its end", {.file = path.c_str()});
    return path.c_str();
}

/// Repeats a system call for as long as signals interrupt it.
template <class Call>
auto retry(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR) result = call();
    return result;
}

} // namespace plait::io::detail
