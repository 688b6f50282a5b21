#pragma once

#include "trainer/dataset.hpp"
#include "trainer/network.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace trainer {

struct train_options {
    std::size_t steps = 630;
    std::size_t batch = 64;
    float learning_rate = 1e-3F;
    float weight_decay = 1e-4F;
    std::uint64_t seed = 0;
    /// Called after each step, counted from 1, with the loss of its batch.
    std::function<void(std::size_t step, double loss)> on_step = {};
};

/// Minimises the softmax cross entropy with Adam; weight decay is added to the gradient (L2).
///
/// Batches walk through the rows in an order that is drawn anew for each pass; the seed fixes the
/// result. Throws std::invalid_argument if the data set is empty, batch is 0 or the data do not fit
/// the network. Source: Kingma and Ba 2015, Algorithm 1.
void train(network& net, const dataset& data, const train_options& options = {});

} // namespace trainer
