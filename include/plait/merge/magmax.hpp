#pragma once

#include <plait/merge/composition.hpp>

#include <string_view>

namespace plait {

/// Per element the task vector of the largest magnitude, of equal ones the last.   Source: Marczak et al. 2024.
struct magmax {
    double lambda = 0.5;

    static constexpr std::string_view name = "magmax";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{keep_all{}, no_election{}, largest_of{}, {.lambda = lambda}}.start(context);
    }
};

} // namespace plait
