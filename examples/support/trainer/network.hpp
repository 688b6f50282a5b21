#pragma once

#include "trainer/layers.hpp"
#include "trainer/matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainer {

/// Layers applied one after the other, and their parameters. A copy is independent.
class network {
public:
    /// Draws every parameter from U(-1/sqrt(fan_in), 1/sqrt(fan_in)).
    ///
    /// Throws std::invalid_argument if a layer's inputs are not the outputs of the layer before it.
    network(std::vector<layer> layers, std::uint64_t seed);

    std::vector<parameter>& parameters() { return parameters_; }
    const std::vector<parameter>& parameters() const { return parameters_; }

    const std::vector<layer>& layers() const { return layers_; }
    std::size_t inputs() const;
    std::size_t outputs() const;

private:
    std::vector<layer> layers_;
    std::vector<parameter> parameters_;
};

/// Throws std::invalid_argument if a parameter does not have the shape that its layer needs, naming
/// the parameter.
void check_parameters(const network& net);

/// The network's outputs [n, classes] for inputs [n, features].
///
/// Works on a few hundred rows at a time, so that memory does not grow with n.
/// Throws std::invalid_argument if the inputs or a parameter do not fit the network.
xt::xtensor<float, 2> logits(const network& net, const xt::xtensor<float, 2>& inputs);

} // namespace trainer
