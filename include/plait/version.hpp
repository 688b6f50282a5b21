#pragma once

#include <string_view>

namespace plait {

/// The version of the headers, as in CMakeLists.txt and CHANGELOG.md.
inline constexpr int version_major = 0;
inline constexpr int version_minor = 1;
inline constexpr int version_patch = 0;
inline constexpr std::string_view version = "0.1.0";

} // namespace plait
