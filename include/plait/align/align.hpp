#pragma once

#include <plait/align/alignment.hpp>
#include <plait/core/parallel.hpp>
#include <plait/model/model_list.hpp>

#include <cstddef>
#include <span>

namespace plait {

/// Finds what brings every model into the order of the first. What it throws and costs is the strategy's.
///     alignment al = align({a, b, c}, weight_matching{spec});
///     al.model(1).group("h1").permutation();   // of b
template <alignment_strategy A>
alignment align(model_list models, const A& strategy, const run_options& options = {}) {
    return strategy.align(nullptr, std::span(models.begin(), models.size()), options);
}
template <model_range Models, alignment_strategy A>
alignment align(const Models& models, const A& strategy, const run_options& options = {}) {
    const auto views = detail::views_of(models);
    return strategy.align(nullptr, std::span<const model_view>(views), options);
}

/// The same, in the order of an anchor that is not one of the models.
template <alignment_strategy A>
alignment align_to(const model_view& anchor, model_list models, const A& strategy, const run_options& options = {}) {
    return strategy.align(&anchor, std::span(models.begin(), models.size()), options);
}
template <model_range Models, alignment_strategy A>
alignment align_to(const model_view& anchor, const Models& models, const A& strategy, const run_options& options = {}) {
    const auto views = detail::views_of(models);
    return strategy.align(&anchor, std::span<const model_view>(views), options);
}

} // namespace plait
