#pragma once

#include "trainer/dataset.hpp"

#include <filesystem>

namespace trainer {

/// Reads MNIST, or a set in the same format, from its two IDX files; both may be gzipped.
///
/// Inputs are rows of 784 pixels with MNIST's mean 0.1307 and deviation 0.3081 taken out.
/// Throws std::runtime_error if a file cannot be read or the two do not belong together.
dataset load_mnist(const std::filesystem::path& images, const std::filesystem::path& labels);

} // namespace trainer
