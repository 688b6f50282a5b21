#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
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
    /// Doubles, differences of floats and whatever is scaled are not rounded to float on the way.
    bool needs_double() const {
        const auto fits = [&](const gathered_view& v) {
            const bool is_half = bits(v.type()) <= 16; // differences of these are far finer than they are themselves
            return !v.is_scaled() && (is_half || (!base && v.type() == dtype::f32));
        };
        return (base && !fits(*base)) || !std::ranges::all_of(models, fits);
    }
    /// Whether all elements are of one type, up to F32, and unscaled, so that they can be combined as they lie in
    /// memory.
    bool is_uniform() const {
        const auto same = [&](const gathered_view& v) { return v.type() == models[0].type() && !v.is_scaled(); };
        return !is_wide() && (!base || same(*base)) && std::ranges::all_of(models, same);
    }

    /// Whether all models have the same bytes.
    bool all_equal() const {
        const gathered_view& first = models[0];
        const std::size_t width = bits(first.type()) / 8;
        constexpr std::size_t part = 4096;
        std::vector<std::byte> expected(part * width);
        std::vector<std::byte> found(expected.size());
        const auto equals_first = [&](const gathered_view& other) {
            if (other.type() != first.type()) return false;
            for (std::size_t i = 0; i < first.size(); i += part) {
                const std::size_t n = std::min(part, first.size() - i);
                first.copy(i, n, expected.data());
                other.copy(i, n, found.data());
                if (std::memcmp(expected.data(), found.data(), n * width) != 0) return false;
            }
            return true;
        };
        return std::ranges::all_of(std::span(models).subspan(1), equals_first);
    }
};

} // namespace plait::detail
