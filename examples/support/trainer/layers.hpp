#pragma once

#include "trainer/matrix.hpp"

#include <xtensor/xarray.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace trainer {

/// A named tensor that training changes; row-major.
struct parameter {
    std::string name;
    xt::xarray<float> value;
};

/// What a layer asks the network to make for it. `fan_in` is the number of inputs that one output
/// sums over.
struct parameter_request {
    std::string name;
    std::vector<std::size_t> shape;
    std::size_t fan_in;
};

/// One row of a matrix, read as channels x height x width.
struct image_shape {
    std::size_t channels;
    std::size_t height;
    std::size_t width;

    std::size_t size() const { return channels * height * width; }
};

/// What a backward pass starts from: the layer's input and output, and the loss gradient at the
/// output.
struct backward_context {
    const matrix& input;
    const matrix& output;
    const matrix& output_gradient;
};

// Every layer has the same members. A layer is a description: the network keeps the parameters and
// hands each layer its own ones, in the order of requests(). backward() overwrites all it writes
// to; `input_gradient` may be null, which says that nobody needs it.

/// y = W x + b, with `name`.weight [outputs, inputs] and `name`.bias [outputs].
struct linear {
    std::string name;
    std::size_t input_width;
    std::size_t output_width;

    std::size_t inputs() const { return input_width; }
    std::size_t outputs() const { return output_width; }
    std::vector<parameter_request> requests() const;
    void forward(std::span<const parameter> own, const matrix& input, matrix& output) const;
    void backward(std::span<const parameter> own, const backward_context& context,
                  matrix* input_gradient, std::span<xt::xarray<float>> own_gradients) const;
};

/// Cross-correlation, stride 1, no padding, with `name`.weight [filters, channels, kernel, kernel]
/// and `name`.bias [filters].
struct conv2d {
    std::string name;
    image_shape image;
    std::size_t filters;
    std::size_t kernel;

    image_shape output_image() const {
        return {filters, image.height - kernel + 1, image.width - kernel + 1};
    }
    std::size_t inputs() const { return image.size(); }
    std::size_t outputs() const { return output_image().size(); }
    std::vector<parameter_request> requests() const;
    void forward(std::span<const parameter> own, const matrix& input, matrix& output) const;
    void backward(std::span<const parameter> own, const backward_context& context,
                  matrix* input_gradient, std::span<xt::xarray<float>> own_gradients) const;
};

/// The maximum of each 2x2 block; an odd last row or column is dropped.
struct max_pool {
    image_shape image;

    image_shape output_image() const { return {image.channels, image.height / 2, image.width / 2}; }
    std::size_t inputs() const { return image.size(); }
    std::size_t outputs() const { return output_image().size(); }
    std::vector<parameter_request> requests() const { return {}; }
    void forward(std::span<const parameter> own, const matrix& input, matrix& output) const;
    void backward(std::span<const parameter> own, const backward_context& context,
                  matrix* input_gradient, std::span<xt::xarray<float>> own_gradients) const;
};

/// max(x, 0).
struct relu {
    std::size_t width;

    std::size_t inputs() const { return width; }
    std::size_t outputs() const { return width; }
    std::vector<parameter_request> requests() const { return {}; }
    void forward(std::span<const parameter> own, const matrix& input, matrix& output) const;
    void backward(std::span<const parameter> own, const backward_context& context,
                  matrix* input_gradient, std::span<xt::xarray<float>> own_gradients) const;
};

using layer = std::variant<linear, conv2d, max_pool, relu>;

} // namespace trainer
