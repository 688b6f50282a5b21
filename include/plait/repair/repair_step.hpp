#pragma once

#include <plait/core/parallel.hpp>
#include <plait/model/model.hpp>
#include <plait/model/model_view.hpp>

#include <concepts>
#include <span>

namespace plait {

struct repair_part {}; ///< marks the parts of a policy that repair

/// A part of a policy that corrects a merged model before it is delivered: repair(merged, inputs, options) changes the
/// tensors of `merged` in place; `inputs` are the models as the merge saw them, each in the anchor's order.
template <class R>
concept repair_step = std::copy_constructible<R> && requires(const R& step, model& merged,
                                                             std::span<const model_view> inputs, const run_options& o) {
    requires std::same_as<typename R::part, repair_part>;
    step.repair(merged, inputs, o);
};

/// Leaves the merged model as it is: the default of a policy without a repair.
struct no_repair {
    using part = repair_part;
    void repair(model&, std::span<const model_view>, const run_options&) const {}
};

} // namespace plait
