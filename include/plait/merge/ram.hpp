#pragma once

#include <plait/merge/composition.hpp>

#include <string_view>

namespace plait {

/// Per element the mean of the task vectors that changed it by more than epsilon.   Source: mergekit's ram.
struct ram {
    double epsilon = 1e-5;

    static constexpr std::string_view name = "ram";
    static constexpr bool needs_deltas = true;
    auto start(const tensor_context& context) const {
        return composition{above_epsilon{epsilon}, no_election{}, sum_of{divisor::count}}.start(context);
    }
};

} // namespace plait
