#include "trainer/layers.hpp"

#include <algorithm>

namespace trainer {

void relu::forward(std::span<const parameter> /*own*/, const matrix& input, matrix& output) const {
    std::transform(input.data(), input.data() + input.size(), output.data(),
                   [](float x) { return std::max(x, 0.0F); });
}

void relu::backward(std::span<const parameter> /*own*/, const backward_context& context,
                    matrix* input_gradient, std::span<xt::xarray<float>> /*own_gradients*/) const {
    if (input_gradient == nullptr) return;
    const matrix& y = context.output;
    std::transform(y.data(), y.data() + y.size(), context.output_gradient.data(),
                   input_gradient->data(),
                   [](float active, float gradient) { return active > 0.0F ? gradient : 0.0F; });
}

} // namespace trainer
