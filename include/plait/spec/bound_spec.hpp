#pragma once

#include <plait/core/shape.hpp>
#include <plait/spec/permutation_spec.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// One factor of an axis of a bound tensor. A tensor's factors, outermost first, multiply to its axes.
struct bound_factor {
    std::size_t axis;
    std::size_t extent;
    std::optional<std::size_t> group = {}; ///< position in bound_spec::groups()
};

struct bound_tensor {
    std::string name;
    plait::shape shape;
    std::vector<bound_factor> factors;
};

/// All axes that share one permutation.
struct unit_group {
    struct use {
        std::size_t tensor; ///< position in bound_spec::tensors()
        std::size_t factor; ///< position in bound_tensor::factors
    };
    std::string name;
    std::size_t size;
    plait::activation activation = plait::activation::opaque;
    std::vector<use> uses = {};
};

/// A permutation_spec applied to the names and shapes of one checkpoint; made by bind().
class bound_spec {
public:
    bound_spec(std::vector<bound_tensor> tensors, std::vector<unit_group> groups)
        : tensors_(std::move(tensors)), groups_(std::move(groups)) {}

    /// Sorted by name.
    const std::vector<bound_tensor>& tensors() const { return tensors_; }

    /// In the order of the rules that introduce them, captures in natural order: it does not depend on the file.
    const std::vector<unit_group>& groups() const { return groups_; }

    /// Null when there is no such tensor. Complexity: O(log n).
    const bound_tensor* find_tensor(std::string_view name) const {
        const auto it = std::ranges::lower_bound(tensors_, name, {},
                                                 [](const bound_tensor& t) -> std::string_view { return t.name; });
        return it != tensors_.end() && it->name == name ? &*it : nullptr;
    }

    /// Throws spec_error when there is no such group.
    std::size_t group_index(std::string_view name) const {
        const auto it = std::ranges::find(groups_, name, &unit_group::name);
        if (it != groups_.end()) return static_cast<std::size_t>(it - groups_.begin());
        throw spec_error("the spec has no unit group " + detail::in_quotes(name));
    }

private:
    std::vector<bound_tensor> tensors_;
    std::vector<unit_group> groups_;
};

} // namespace plait
