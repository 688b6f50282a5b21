#pragma once

#include "trainer/network.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainer {

/// Linear layers with a ReLU between them; widths are those of the input, the hidden layers and the
/// output.
///
/// The hidden layers are called fc1, fc2, ... and the last one out: fc1.weight, fc1.bias, ...,
/// out.bias. Throws std::invalid_argument for fewer than two widths.
network mlp(const std::vector<std::size_t>& widths, std::uint64_t seed);

/// A LeNet for rows of 28x28 pixels: conv1 (20 filters 5x5), pool, ReLU, conv2 (50 filters 5x5),
/// pool, ReLU, fc1 (800 -> 500), ReLU, fc2 (500 -> 10).
network mnist_cnn(std::uint64_t seed = 0);

} // namespace trainer
