#pragma once

#include <plait/merge/multi_krum.hpp>

#include <cstddef>
#include <string_view>

namespace plait {

/// The one contribution that lies nearest to its N - f - 2 nearest neighbours: multi_krum with m = 1.
/// Source: Blanchard et al. 2017.
struct krum {
    std::size_t f = 0; ///< contributions that may be hostile

    static constexpr std::string_view name = "krum";
    auto survey(const model_context& context) const {
        detail::check_minority(name, f, context.models, 2);
        return multi_krum{f, 1}.survey(context);
    }
    auto start(const tensor_context& context, const multi_krum::survey_run& all) const {
        return multi_krum{f, 1}.start(context, all);
    }
};

} // namespace plait
