#pragma once

#include <plait/core/tensor_view.hpp>

#include <concepts>
#include <ranges>
#include <string>

namespace plait {

struct named_tensor {
    std::string name;
    any_tensor_view view;
};

struct mutable_named_tensor {
    std::string name;
    mutable_any_tensor_view view;

    operator named_tensor() const { return {name, view}; }
};

/// Anything with tensors() that lists names and views: model, model_view, io::safetensors_file, your own type.
template <class C>
concept checkpoint = requires(const C& c) {
    { c.tensors() } -> std::ranges::input_range;
    requires std::convertible_to<std::ranges::range_value_t<decltype(c.tensors())>, named_tensor>;
};

/// A checkpoint whose tensors may be overwritten: model, mutable_model_view, your own type.
template <class C>
concept writable_checkpoint = requires(C& c) {
    { c.tensors() } -> std::ranges::input_range;
    requires std::convertible_to<std::ranges::range_value_t<decltype(c.tensors())>, mutable_named_tensor>;
};

} // namespace plait
