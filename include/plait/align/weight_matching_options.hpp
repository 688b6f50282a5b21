#pragma once

#include <plait/core/error.hpp>

#include <cstdint>
#include <string>

namespace plait {

/// Where a search for the orders of units begins.
enum class descent_start : std::uint8_t {
    anchored, ///< from the fixed axes inwards; the result does not depend on the model's own order
    identity  ///< from the order of the file, as published
};

struct weight_matching_options {
    int max_sweeps = 100;
    int restarts = 0; ///< also start at the identity and at this many random orders; the best objective wins
    /// First make the norms of what writes and what reads each unit of a relu group equal. A tensor writes the group on
    /// its axis 0 and reads groups on its other axes: give [in, out] storage as a view with swapped strides.
    bool balance = false;
    std::uint64_t seed = 0;
    descent_start start = descent_start::anchored;
};

namespace detail {

inline void check(const weight_matching_options& options) {
    if (options.max_sweeps < 1)
        throw option_error("max_sweeps is " + std::to_string(options.max_sweeps) + ", expected 1 or more");
    if (options.restarts < 0)
        throw option_error("restarts is " + std::to_string(options.restarts) + ", expected 0 or more");
}

} // namespace detail
} // namespace plait
