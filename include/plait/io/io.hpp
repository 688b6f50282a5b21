#pragma once

// Files: plait/plait.hpp leaves these out, for they need nlohmann-json and POSIX.
#include <plait/io/output_file.hpp>
#include <plait/io/safetensors_file.hpp>
#include <plait/io/safetensors_writer.hpp>
