#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace plait::detail {

/// How tensor `t` of model k is read; k == the number of models is the base.
using tensor_reader = std::function<gathered_view(std::size_t k, const named_tensor& t)>;

/// One tensor of every model, and of the base if there is one.
struct merge_input {
    std::vector<gathered_view> models;
    std::optional<gathered_view> base;

    bool is_floating() const {
        const auto floating = [](const gathered_view& v) { return plait::is_floating(v.type()); };
        return (!base || floating(*base)) && std::ranges::all_of(models, floating);
    }
    /// Whether doubles are among the inputs.
    bool is_wide() const {
        const auto wide = [](const gathered_view& v) { return v.type() == dtype::f64; };
        return (base && wide(*base)) || std::ranges::any_of(models, wide);
    }
    /// Doubles, differences and whatever is scaled are not rounded to float on the way.
    bool needs_double() const {
        if (base) return true;
        const auto wide = [](const gathered_view& v) { return v.type() == dtype::f64 || v.is_scaled(); };
        return std::ranges::any_of(models, wide);
    }
    /// Whether all elements are of one type and unscaled, so that their bytes can be combined.
    bool is_uniform() const {
        const auto same = [&](const gathered_view& v) { return v.type() == models[0].type() && !v.is_scaled(); };
        return (!base || same(*base)) && std::ranges::all_of(models, same);
    }
};

} // namespace plait::detail
