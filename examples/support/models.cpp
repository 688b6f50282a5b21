#include "trainer/models.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace trainer {

network mlp(const std::vector<std::size_t>& widths, std::uint64_t seed) {
    if (widths.size() < 2) throw std::invalid_argument("mlp: at least two widths are needed");
    std::vector<layer> layers;
    const std::size_t hidden = widths.size() - 2;
    for (std::size_t i = 0; i < hidden; ++i) {
        layers.emplace_back(linear{"fc" + std::to_string(i + 1), widths[i], widths[i + 1]});
        layers.emplace_back(relu{widths[i + 1]});
    }
    layers.emplace_back(linear{"out", widths[hidden], widths[hidden + 1]});
    return network(std::move(layers), seed);
}

network mnist_cnn(std::uint64_t seed) {
    return network(
        {
            conv2d{"conv1", {1, 28, 28}, 20, 5},
            max_pool{{20, 24, 24}},
            relu{20 * 12 * 12},
            conv2d{"conv2", {20, 12, 12}, 50, 5},
            max_pool{{50, 8, 8}},
            relu{50 * 4 * 4},
            linear{"fc1", 50 * 4 * 4, 500},
            relu{500},
            linear{"fc2", 500, 10},
        },
        seed);
}

} // namespace trainer
