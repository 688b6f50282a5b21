#include "trainer/gradient.hpp"

#include "trainer/evaluate.hpp"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>

namespace trainer {

namespace {

struct step {
    const layer* described;
    std::span<const parameter> own;
    std::span<xt::xarray<float>> own_gradients;
    const matrix* input;
    matrix output;
};

std::vector<xt::xarray<float>> make_gradients(const network& net) {
    std::vector<xt::xarray<float>> gradients;
    gradients.reserve(net.parameters().size());
    for (const parameter& p : net.parameters())
        gradients.push_back(xt::xarray<float>::from_shape(p.value.shape()));
    return gradients;
}

/// Runs the network and keeps what the way back needs.
std::vector<step> forward(const network& net, const matrix& inputs,
                          std::span<xt::xarray<float>> gradients) {
    std::vector<step> steps;
    steps.reserve(net.layers().size());
    const matrix* input = &inputs;
    std::size_t first = 0;
    for (const layer& l : net.layers())
        std::visit(
            [&](const auto& described) {
                const std::size_t count = described.requests().size();
                step& s = steps.emplace_back(
                    step{&l, std::span(net.parameters()).subspan(first, count),
                         gradients.subspan(first, count), input,
                         matrix::from_shape({inputs.shape(0), described.outputs()})});
                described.forward(s.own, *input, s.output);
                input = &s.output;
                first += count;
            },
            l);
    return steps;
}

/// The gradient of the mean softmax cross entropy with respect to the logits.
matrix logits_gradient(const matrix& logits, std::span<const int> labels) {
    matrix result = softmax(logits);
    for (std::size_t i = 0; i < labels.size(); ++i) result(i, labels[i]) -= 1.0F;
    result /= static_cast<float>(labels.size());
    return result;
}

} // namespace

loss_gradient backpropagate(const network& net, const dataset& batch) {
    check_parameters(net);
    if (batch.inputs.shape(1) != net.inputs())
        throw std::invalid_argument(
            "the batch does not have as many features as the network has inputs");

    loss_gradient result{0.0, make_gradients(net)};
    const std::vector<step> steps = forward(net, batch.inputs, result.gradients);
    const matrix& outputs = steps.back().output;
    result.loss = evaluate_logits(outputs, batch.labels).loss;

    matrix gradient = logits_gradient(outputs, batch.labels);
    for (std::size_t i = steps.size(); i-- > 0;) {
        const step& s = steps[i];
        matrix next = matrix::from_shape(s.input->shape());
        std::visit(
            [&](const auto& described) {
                described.backward(s.own, {*s.input, s.output, gradient}, i > 0 ? &next : nullptr,
                                   s.own_gradients);
            },
            *s.described);
        gradient = std::move(next);
    }
    return result;
}

} // namespace trainer
