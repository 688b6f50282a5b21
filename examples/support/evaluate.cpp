#include "trainer/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

namespace trainer {

namespace {

using row = std::span<const float>;

row row_of(const matrix& values, std::size_t index) {
    return row(values.data(), values.size()).subspan(index * values.shape(1), values.shape(1));
}

/// log(sum(exp(values))), without overflow.
double log_sum_exp(row values) {
    const double largest = *std::max_element(values.begin(), values.end());
    double sum = 0.0;
    for (const float value : values) sum += std::exp(value - largest);
    return largest + std::log(sum);
}

/// `loss` maps a row of outputs and the label to the loss of that sample.
template <class Loss>
score score_rows(const matrix& outputs, std::span<const int> labels, Loss loss) {
    if (labels.empty()) throw std::invalid_argument("there are no samples to evaluate");
    if (outputs.shape(0) != labels.size())
        throw std::invalid_argument(std::to_string(outputs.shape(0))
                                    + " outputs cannot be compared with "
                                    + std::to_string(labels.size()) + " labels");
    std::size_t correct = 0;
    double total = 0.0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const row values = row_of(outputs, i);
        const auto label = static_cast<std::size_t>(labels[i]);
        if (labels[i] < 0 || label >= values.size())
            throw std::invalid_argument("the label " + std::to_string(labels[i]) + " is not one of "
                                        + std::to_string(values.size()) + " classes");
        if (std::max_element(values.begin(), values.end()) - values.begin() == labels[i]) ++correct;
        total += loss(values, label);
    }
    const auto count = static_cast<double>(labels.size());
    return {static_cast<double>(correct) / count, total / count};
}

} // namespace

xt::xtensor<float, 2> softmax(const xt::xtensor<float, 2>& logits) {
    matrix result = matrix::from_shape(logits.shape());
    for (std::size_t i = 0; i < logits.shape(0); ++i) {
        const row values = row_of(logits, i);
        const double normaliser = log_sum_exp(values);
        std::transform(
            values.begin(), values.end(), result.data() + i * values.size(),
            [=](float value) { return static_cast<float>(std::exp(value - normaliser)); });
    }
    return result;
}

score evaluate(const network& net, const dataset& data) {
    return evaluate_logits(logits(net, data.inputs), data.labels);
}

score evaluate_logits(const xt::xtensor<float, 2>& logits, std::span<const int> labels) {
    return score_rows(logits, labels, [](row values, std::size_t label) {
        return log_sum_exp(values) - values[label];
    });
}

score evaluate_probabilities(const xt::xtensor<float, 2>& probabilities,
                             std::span<const int> labels) {
    return score_rows(probabilities, labels, [](row values, std::size_t label) {
        return -std::log(
            static_cast<double>(std::max(values[label], std::numeric_limits<float>::min())));
    });
}

} // namespace trainer
