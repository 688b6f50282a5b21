#pragma once

#include <plait/core/random.hpp>
#include <plait/permutation/permutation.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace plait {

/// A permutation of n positions, each equally likely. Source: Fisher and Yates 1938, Durstenfeld 1964.
inline permutation random_permutation(std::size_t n, counter_random& random) {
    std::vector<std::size_t> images(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = random.below(i + 1);
        images[i] = images[k];
        images[k] = i;
    }
    return permutation(std::move(images));
}

} // namespace plait
