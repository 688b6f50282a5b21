#pragma once

#include <filesystem>
#include <string>

namespace trainer::detail {

/// The whole content of a file, unpacked if it is gzipped. Throws std::runtime_error.
std::string read_file(const std::filesystem::path& path);

} // namespace trainer::detail
