#pragma once

#include <plait/align/model_map.hpp>
#include <plait/core/parallel.hpp>
#include <plait/model/model_view.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// What happened to one unit group of one model. The objective is the sum of products of the anchor's weights and the
/// model's, over all tensors that carry the group: higher is more alike.
struct group_report {
    std::string group;
    std::size_t size = 0;
    std::size_t moved = 0; ///< units whose position changed
    double objective_before = 0;
    double objective_after = 0;
    double gap = 0; ///< how far the last assignment can be from its optimum; 0 up to rounding is proved optimal
};

/// What happened to one model.
struct model_report {
    std::vector<group_report> groups = {};
    double objective_before = 0; ///< over all tensors that carry a group
    double objective_after = 0;
    int sweeps = 0;
    bool converged = true;
    std::string start = "identity"; ///< the start whose result was kept: anchored, identity, random 1, ...
};

/// One map per model and unit group that brings every model into the anchor's order.
class alignment {
public:
    struct entry {
        model_map map;
        model_report report = {};
    };

    alignment() : alignment(0) {}

    /// Nothing moves: the alignment of `models` models for which there is no spec.
    explicit alignment(std::size_t models)
        : spec_(std::make_shared<const bound_spec>(std::vector<bound_tensor>{}, std::vector<unit_group>{})),
          entries_(models, entry{model_map::identity(spec_)}) {}

    /// Without an anchor of its own the first model is the anchor.
    alignment(std::shared_ptr<const bound_spec> spec, std::vector<entry> models, std::optional<model_map> anchor = {})
        : spec_(std::move(spec)), entries_(std::move(models)), anchor_(std::move(anchor)) {}

    /// The number of models.
    std::size_t size() const { return entries_.size(); }

    /// Throws option_error when there is no such model.
    const model_map& model(std::size_t k) const { return at(k).map; }
    const model_report& report(std::size_t k) const { return at(k).report; }

    /// The map of an anchor that is not one of the models, such as a base; it keeps its order, `balance` scales it.
    const std::optional<model_map>& anchor() const { return anchor_; }
    const bound_spec& spec() const { return *spec_; }

private:
    const entry& at(std::size_t k) const {
        if (k < entries_.size()) return entries_[k];
        throw option_error("the alignment has " + std::to_string(entries_.size()) + " models, there is no model "
                           + std::to_string(k));
    }

    std::shared_ptr<const bound_spec> spec_;
    std::vector<entry> entries_;
    std::optional<model_map> anchor_;
};

struct alignment_part {}; ///< marks the parts of a policy that align

/// A part of a policy that aligns models. `anchor` is null when the first model is the anchor.
template <class A>
concept alignment_strategy = std::copy_constructible<A> && requires(const A& strategy, const model_view* anchor,
                                                                    std::span<const model_view> models,
                                                                    const run_options& o) {
    requires std::same_as<typename A::part, alignment_part>;
    { strategy.align(anchor, models, o) } -> std::same_as<alignment>;
};

/// Leaves every model as it is: the default of a policy without an alignment.
struct unaligned {
    using part = alignment_part;
    alignment align(const model_view*, std::span<const model_view> models, const run_options&) const {
        return alignment(models.size());
    }
};

} // namespace plait
