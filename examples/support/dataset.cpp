#include "trainer/dataset.hpp"

#include "trainer/random.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace trainer {

dataset select(const dataset& source, std::span<const std::size_t> rows) {
    const std::size_t width = source.inputs.shape(1);
    dataset result{matrix::from_shape({rows.size(), width}), {}};
    result.labels.reserve(rows.size());
    float* out = result.inputs.data();
    for (const std::size_t row : rows) {
        if (row >= source.size())
            throw std::out_of_range("select: there is no row " + std::to_string(row) + " among "
                                    + std::to_string(source.size()));
        out = std::copy_n(source.inputs.data() + row * width, width, out);
        result.labels.push_back(source.labels[row]);
    }
    return result;
}

std::vector<dataset> shards(const dataset& source, std::size_t count, std::uint64_t seed) {
    if (count == 0 || count > source.size())
        throw std::invalid_argument("shards: cannot deal " + std::to_string(source.size())
                                    + " samples into " + std::to_string(count) + " parts");
    std::vector<std::size_t> order(source.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random_source(seed).shuffle(std::span(order));

    std::vector<dataset> result;
    result.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = i * order.size() / count;
        const std::size_t end = (i + 1) * order.size() / count;
        result.push_back(select(source, std::span(order).subspan(begin, end - begin)));
    }
    return result;
}

} // namespace trainer
