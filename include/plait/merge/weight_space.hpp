#pragma once

#include <plait/model/model_view.hpp>

#include <concepts>
#include <utility>

namespace plait {

struct space_part {}; ///< marks the parts of a policy that say what is merged

/// A part of a policy that says what is merged: the weights, or their differences from a base.
template <class S>
concept weight_space = std::copy_constructible<S> && requires {
    requires std::same_as<typename S::part, space_part>;
    { S::deltas } -> std::convertible_to<bool>;
};

/// Merges the weights themselves: the default.
struct absolute_weights {
    using part = space_part;
    static constexpr bool deltas = false;
};

/// Merges the differences of the models from a common base, and adds the result to the base. The base is also the
/// anchor of the alignment. An lvalue is borrowed, an rvalue taken over.   Source: Ilharco et al. 2023.
///     fuse(tuned, task_vectors{base} | average{})
class task_vectors {
public:
    using part = space_part;
    static constexpr bool deltas = true;

    explicit task_vectors(model_view base) : base_(std::move(base)) {}
    const model_view& base() const { return base_; }

private:
    model_view base_;
};

} // namespace plait
