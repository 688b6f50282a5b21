#include "trainer/mnist.hpp"

#include "trainer/detail/gzip.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

namespace {

constexpr std::size_t side = 28;
constexpr std::size_t classes = 10;
constexpr float mean = 0.1307F;
constexpr float deviation = 0.3081F;

/// Unsigned bytes with their extents: the magic number 00 00 08 rank, then rank big-endian 32-bit
/// extents.
struct idx_file {
    std::string content;
    std::vector<std::size_t> shape;

    std::string_view values() const {
        return std::string_view(content).substr(4 + 4 * shape.size());
    }
};

std::size_t big_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char byte : bytes.substr(0, 4))
        value = value << 8U | static_cast<unsigned char>(byte);
    return value;
}

idx_file read_idx(const std::filesystem::path& path, std::size_t rank) {
    idx_file file{detail::read_file(path), {}};
    const std::string_view bytes = file.content;
    if (bytes.size() < 4 + 4 * rank || big_endian(bytes) != 0x800 + rank)
        throw std::runtime_error(path.string() + " is not an IDX file of bytes with "
                                 + std::to_string(rank) + " dimension(s)");
    std::size_t expected = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        file.shape.push_back(big_endian(bytes.substr(4 + 4 * i)));
        expected *= file.shape.back();
    }
    if (file.values().size() != expected)
        throw std::runtime_error(path.string() + " should hold " + std::to_string(expected)
                                 + " values, but holds " + std::to_string(file.values().size()));
    return file;
}

} // namespace

dataset load_mnist(const std::filesystem::path& images, const std::filesystem::path& labels) {
    const idx_file pixels = read_idx(images, 3);
    const idx_file classes_of = read_idx(labels, 1);
    const std::size_t count = pixels.shape[0];
    if (pixels.shape[1] != side || pixels.shape[2] != side)
        throw std::runtime_error(images.string() + " does not hold images of 28x28 pixels");
    if (classes_of.shape[0] != count)
        throw std::runtime_error(labels.string() + " holds " + std::to_string(classes_of.shape[0])
                                 + " labels for the " + std::to_string(count) + " images in "
                                 + images.string());

    dataset result{matrix::from_shape({count, side * side}), {}};
    float* out = result.inputs.data();
    for (const char byte : pixels.values()) {
        const float grey = static_cast<float>(static_cast<unsigned char>(byte)) / 255.0F;
        *out++ = (grey - mean) / deviation;
    }
    for (const char byte : classes_of.values()) {
        const unsigned char label = static_cast<unsigned char>(byte);
        if (label >= classes)
            throw std::runtime_error(labels.string() + " holds the label " + std::to_string(label)
                                     + ", which is not a digit");
        result.labels.push_back(label);
    }
    return result;
}

} // namespace trainer
