#pragma once

#include <plait/merge/trimmed_mean.hpp>

#include <string_view>

namespace plait {

/// Per element the median, of an even number the mean of the two in the middle. Refuses as trimmed_mean does.   Source:
/// Yin et al. 2018.
struct coordinate_median {
    static constexpr std::string_view name = "coordinate_median";
    detail::contributions survey(const model_context& context) const { return detail::contributions(context); }
    trimmed_mean::run start(const tensor_context& context, const detail::contributions&) const {
        return {(context.models - 1) / 2};
    }
};

} // namespace plait
