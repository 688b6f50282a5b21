#include "trainer/detail/gemm.hpp"
#include "trainer/layers.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace trainer {

using detail::multiply;
using detail::op;

namespace {

/// Calls visit(row of the image, row of the patch matrix, length) for each run of pixels the two
/// share.
///
/// The patch matrix is [channels * kernel * kernel, output pixels]: its row (c, i, j) holds, for
/// each output pixel (y, x), the image's pixel (c, y + i, x + j).
template <class Visit>
void for_each_run(const conv2d& layer, Visit visit) {
    const image_shape in = layer.image;
    const image_shape out = layer.output_image();
    std::size_t patch = 0;
    for (std::size_t c = 0; c < in.channels; ++c)
        for (std::size_t i = 0; i < layer.kernel; ++i)
            for (std::size_t j = 0; j < layer.kernel; ++j)
                for (std::size_t y = 0; y < out.height; ++y, patch += out.width)
                    visit((c * in.height + y + i) * in.width + j, patch, out.width);
}

void gather_patches(const conv2d& layer, const float* image, float* patches) {
    for_each_run(layer, [=](std::size_t from, std::size_t to, std::size_t length) {
        std::copy_n(image + from, length, patches + to);
    });
}

void scatter_patches(const conv2d& layer, const float* patches, float* image) {
    std::fill_n(image, layer.inputs(), 0.0F);
    for_each_run(layer, [=](std::size_t to, std::size_t from, std::size_t length) {
        for (std::size_t i = 0; i < length; ++i) image[to + i] += patches[from + i];
    });
}

struct sizes {
    std::size_t patch;  ///< weights of one filter
    std::size_t pixels; ///< of one output channel

    explicit sizes(const conv2d& layer)
        : patch(layer.image.channels * layer.kernel * layer.kernel),
          pixels(layer.output_image().height * layer.output_image().width) {}
};

} // namespace

std::vector<parameter_request> conv2d::requests() const {
    if (kernel == 0 || kernel > image.height || kernel > image.width)
        throw std::invalid_argument(name + ": the kernel must fit into the image");
    const std::size_t fan_in = image.channels * kernel * kernel;
    return {{name + ".weight", {filters, image.channels, kernel, kernel}, fan_in},
            {name + ".bias", {filters}, fan_in}};
}

void conv2d::forward(std::span<const parameter> own, const matrix& input, matrix& output) const {
    const sizes size(*this);
    std::vector<float> patches(size.patch * size.pixels);
    for (std::size_t row = 0; row < input.shape(0); ++row) {
        float* out = output.data() + row * outputs();
        for (std::size_t f = 0; f < filters; ++f)
            std::fill_n(out + f * size.pixels, size.pixels, own[1].value.data()[f]);
        gather_patches(*this, input.data() + row * inputs(), patches.data());
        multiply({filters, size.pixels, size.patch}, op::plain, own[0].value.data(), op::plain,
                 patches.data(), out, detail::store::add);
    }
}

void conv2d::backward(std::span<const parameter> own, const backward_context& context,
                      matrix* input_gradient, std::span<xt::xarray<float>> own_gradients) const {
    const sizes size(*this);
    std::vector<float> patches(size.patch * size.pixels);
    std::fill_n(own_gradients[0].data(), own_gradients[0].size(), 0.0F);
    std::fill_n(own_gradients[1].data(), filters, 0.0F);

    for (std::size_t row = 0; row < context.input.shape(0); ++row) {
        const float* gradient = context.output_gradient.data() + row * outputs();
        gather_patches(*this, context.input.data() + row * inputs(), patches.data());
        multiply({filters, size.patch, size.pixels}, op::plain, gradient, op::transposed,
                 patches.data(), own_gradients[0].data(), detail::store::add);
        for (std::size_t f = 0; f < filters; ++f) {
            const float* channel = gradient + f * size.pixels;
            own_gradients[1].data()[f] += std::accumulate(channel, channel + size.pixels, 0.0F);
        }
        if (input_gradient != nullptr) {
            multiply({size.patch, size.pixels, filters}, op::transposed, own[0].value.data(),
                     op::plain, gradient, patches.data());
            scatter_patches(*this, patches.data(), input_gradient->data() + row * inputs());
        }
    }
}

} // namespace trainer
