#include "trainer/detail/gemm.hpp"
#include "trainer/layers.hpp"

#include <algorithm>

namespace trainer {

using detail::multiply;
using detail::op;

std::vector<parameter_request> linear::requests() const {
    return {{name + ".weight", {output_width, input_width}, input_width},
            {name + ".bias", {output_width}, input_width}};
}

void linear::forward(std::span<const parameter> own, const matrix& input, matrix& output) const {
    const std::size_t batch = input.shape(0);
    const float* bias = own[1].value.data();
    for (std::size_t row = 0; row < batch; ++row)
        std::copy_n(bias, output_width, output.data() + row * output_width);
    multiply({batch, output_width, input_width}, op::plain, input.data(), op::transposed,
             own[0].value.data(), output.data(), detail::store::add);
}

void linear::backward(std::span<const parameter> own, const backward_context& context,
                      matrix* input_gradient, std::span<xt::xarray<float>> own_gradients) const {
    const std::size_t batch = context.input.shape(0);
    const float* gradient = context.output_gradient.data();

    multiply({output_width, input_width, batch}, op::transposed, gradient, op::plain,
             context.input.data(), own_gradients[0].data());

    float* bias = own_gradients[1].data();
    std::fill_n(bias, output_width, 0.0F);
    for (std::size_t row = 0; row < batch; ++row)
        for (std::size_t i = 0; i < output_width; ++i) bias[i] += gradient[row * output_width + i];

    if (input_gradient != nullptr)
        multiply({batch, input_width, output_width}, op::plain, gradient, op::plain,
                 own[0].value.data(), input_gradient->data());
}

} // namespace trainer
