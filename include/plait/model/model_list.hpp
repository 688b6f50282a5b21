#pragma once

#include <plait/model/model_view.hpp>

#include <concepts>
#include <initializer_list>
#include <ranges>
#include <utility>
#include <vector>

namespace plait {

/// Models of any kinds in braces: {trainer, io::open("a.safetensors"), b}.
using model_list = std::initializer_list<model_view>;

/// A range of models of one kind: a vector of model, of model_view, of safetensors_file. Elements that are references
/// are borrowed, values taken over.
template <class R>
concept model_range =
    std::ranges::forward_range<const R> && std::convertible_to<std::ranges::range_reference_t<const R>, model_view>;

namespace detail {

template <model_range Models>
std::vector<model_view> views_of(const Models& models) {
    std::vector<model_view> views;
    for (auto&& m : models) views.emplace_back(std::forward<decltype(m)>(m));
    return views;
}

} // namespace detail
} // namespace plait
