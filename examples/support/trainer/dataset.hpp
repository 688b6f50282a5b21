#pragma once

#include "trainer/matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trainer {

/// Samples for classification: inputs [n, features] and n labels, counted from 0.
struct dataset {
    xt::xtensor<float, 2> inputs;
    std::vector<int> labels;

    std::size_t size() const { return labels.size(); }
};

/// A copy of the given rows, in the given order. Throws std::out_of_range if there is no such row.
dataset select(const dataset& source, std::span<const std::size_t> rows);

/// Deals all rows at random into `count` disjoint parts whose sizes differ by at most one.
///
/// Throws std::invalid_argument unless 1 <= count <= source.size().
std::vector<dataset> shards(const dataset& source, std::size_t count, std::uint64_t seed);

} // namespace trainer
