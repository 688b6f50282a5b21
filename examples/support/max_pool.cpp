#include "trainer/layers.hpp"

#include <algorithm>

namespace trainer {

namespace {

/// Calls visit(index of the block's largest input, index of the output) for each 2x2 block of each
/// row; on a tie the first input wins.
template <class Visit>
void for_each_block(const max_pool& layer, const matrix& input, Visit visit) {
    const image_shape in = layer.image;
    const image_shape out = layer.output_image();
    const float* const pixels = input.data();
    const std::size_t planes = input.shape(0) * in.channels;
    std::size_t output = 0;
    for (std::size_t plane = 0; plane < planes; ++plane)
        for (std::size_t y = 0; y < out.height; ++y)
            for (std::size_t x = 0; x < out.width; ++x, ++output) {
                const std::size_t corner = (plane * in.height + 2 * y) * in.width + 2 * x;
                std::size_t best = corner;
                for (const std::size_t other :
                     {corner + 1, corner + in.width, corner + in.width + 1})
                    if (pixels[other] > pixels[best]) best = other;
                visit(best, output);
            }
}

} // namespace

void max_pool::forward(std::span<const parameter> /*own*/, const matrix& input,
                       matrix& output) const {
    const float* from = input.data();
    float* to = output.data();
    for_each_block(*this, input, [=](std::size_t best, std::size_t out) { to[out] = from[best]; });
}

void max_pool::backward(std::span<const parameter> /*own*/, const backward_context& context,
                        matrix* input_gradient,
                        std::span<xt::xarray<float>> /*own_gradients*/) const {
    if (input_gradient == nullptr) return;
    const float* from = context.output_gradient.data();
    float* to = input_gradient->data();
    std::fill_n(to, input_gradient->size(), 0.0F);
    for_each_block(*this, context.input,
                   [=](std::size_t best, std::size_t out) { to[best] = from[out]; });
}

} // namespace trainer
