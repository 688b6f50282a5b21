#include "trainer/network.hpp"

#include "trainer/random.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace trainer {

namespace {

constexpr std::size_t rows_at_a_time = 500;

std::size_t inputs_of(const layer& l) {
    return std::visit([](const auto& described) { return described.inputs(); }, l);
}

std::size_t outputs_of(const layer& l) {
    return std::visit([](const auto& described) { return described.outputs(); }, l);
}

std::vector<parameter_request> requests_of(const layer& l) {
    return std::visit([](const auto& described) { return described.requests(); }, l);
}

matrix forward(const network& net, matrix values) {
    std::span<const parameter> left = net.parameters();
    for (const layer& l : net.layers()) {
        matrix next = matrix::from_shape({values.shape(0), outputs_of(l)});
        const std::size_t count = requests_of(l).size();
        std::visit(
            [&](const auto& described) { described.forward(left.first(count), values, next); }, l);
        left = left.subspan(count);
        values = std::move(next);
    }
    return values;
}

} // namespace

network::network(std::vector<layer> layers, std::uint64_t seed) : layers_(std::move(layers)) {
    if (layers_.empty()) throw std::invalid_argument("network: there must be at least one layer");
    for (std::size_t i = 1; i < layers_.size(); ++i)
        if (inputs_of(layers_[i]) != outputs_of(layers_[i - 1]))
            throw std::invalid_argument("network: layer " + std::to_string(i) + " takes "
                                        + std::to_string(inputs_of(layers_[i]))
                                        + " values, but gets "
                                        + std::to_string(outputs_of(layers_[i - 1])));
    random_source random(seed);
    for (const layer& l : layers_)
        for (const parameter_request& request : requests_of(l)) {
            const double bound = 1.0 / std::sqrt(static_cast<double>(request.fan_in));
            parameter made{request.name, xt::xarray<float>::from_shape(request.shape)};
            std::generate_n(made.value.data(), made.value.size(),
                            [&] { return static_cast<float>(random.uniform(-bound, bound)); });
            parameters_.push_back(std::move(made));
        }
}

std::size_t network::inputs() const { return inputs_of(layers_.front()); }

std::size_t network::outputs() const { return outputs_of(layers_.back()); }

void check_parameters(const network& net) {
    std::size_t index = 0;
    for (const layer& l : net.layers())
        for (const parameter_request& request : requests_of(l)) {
            if (index == net.parameters().size())
                throw std::invalid_argument("the network lacks the parameter " + request.name);
            const auto& shape = net.parameters()[index++].value.shape();
            if (!std::equal(shape.begin(), shape.end(), request.shape.begin(), request.shape.end()))
                throw std::invalid_argument("the parameter " + request.name
                                            + " does not have the shape that its layer needs");
        }
    if (index != net.parameters().size())
        throw std::invalid_argument("the network has more parameters than its layers use");
}

xt::xtensor<float, 2> logits(const network& net, const xt::xtensor<float, 2>& inputs) {
    check_parameters(net);
    if (inputs.shape(1) != net.inputs())
        throw std::invalid_argument("the network takes " + std::to_string(net.inputs())
                                    + " values per sample, not " + std::to_string(inputs.shape(1)));
    const std::size_t rows = inputs.shape(0);
    matrix result = matrix::from_shape({rows, net.outputs()});
    for (std::size_t begin = 0; begin < rows; begin += rows_at_a_time) {
        const std::size_t count = std::min(rows_at_a_time, rows - begin);
        matrix part = matrix::from_shape({count, net.inputs()});
        std::copy_n(inputs.data() + begin * net.inputs(), part.size(), part.data());
        const matrix outputs = forward(net, std::move(part));
        std::copy_n(outputs.data(), outputs.size(), result.data() + begin * net.outputs());
    }
    return result;
}

} // namespace trainer
