#pragma once

#include "trainer/dataset.hpp"
#include "trainer/network.hpp"

#include <span>

namespace trainer {

/// Share of samples whose largest output is the label, and mean cross entropy in nats.
struct score {
    double accuracy;
    double loss;
};

/// Turns each row into probabilities.
xt::xtensor<float, 2> softmax(const xt::xtensor<float, 2>& logits);

// All of these throw std::invalid_argument if there are no samples, or if a label is not one of the
// classes.

score evaluate(const network& net, const dataset& data);

score evaluate_logits(const xt::xtensor<float, 2>& logits, std::span<const int> labels);

/// A probability of 0 at the label counts as the smallest positive float, so that the loss stays
/// finite.
score evaluate_probabilities(const xt::xtensor<float, 2>& probabilities,
                             std::span<const int> labels);

} // namespace trainer
