#pragma once

#include <string_view>

namespace plait {

/// The version of the headers; CMakeLists.txt reads it here.
inline constexpr std::string_view version = "0.1.0";

} // namespace plait
