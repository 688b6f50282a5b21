#pragma once

#include "trainer/dataset.hpp"
#include "trainer/network.hpp"

#include <xtensor/xarray.hpp>

#include <vector>

namespace trainer {

struct loss_gradient {
    double loss;
    std::vector<xt::xarray<float>> gradients; ///< one per parameter, in the same order and shape
};

/// The mean softmax cross entropy of a batch and its gradient with respect to every parameter.
///
/// Throws std::invalid_argument if the batch is empty or does not fit the network.
loss_gradient backpropagate(const network& net, const dataset& batch);

} // namespace trainer
