#pragma once

#include <plait/model/checkpoint.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// Positions of the tensors in the order of their names. Throws spec_error on a name that stands twice.
template <class Tensors>
std::vector<std::size_t> sorted_by_name(const Tensors& tensors) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return tensors[i].name; });
    const auto same = [&](std::size_t a, std::size_t b) { return tensors[a].name == tensors[b].name; };
    if (const auto twice = std::adjacent_find(order.begin(), order.end(), same); twice != order.end())
        throw spec_error("the checkpoint has two tensors of this name, expected one", {.tensor = tensors[*twice].name});
    return order;
}

} // namespace detail

/// A read-only reference to any checkpoint: an lvalue is borrowed, an rvalue is taken over. Copies are cheap.
/// Throws spec_error when two tensors have one name.
class model_view {
public:
    model_view(std::initializer_list<named_tensor> tensors) : model_view(nullptr, std::vector<named_tensor>(tensors)) {}
    explicit model_view(std::vector<named_tensor> tensors) : model_view(nullptr, std::move(tensors)) {}

    template <class C>
        requires(!std::same_as<std::remove_cvref_t<C>, model_view>)
    &&checkpoint<std::remove_cvref_t<C>> model_view(C&& c) : model_view(take(std::forward<C>(c))) {}

    /// In the order of the checkpoint.
    const std::vector<named_tensor>& tensors() const { return content_->tensors; }

    /// Null when there is no such tensor. Complexity: O(log n).
    const named_tensor* find(std::string_view name) const {
        const auto name_of = [&](std::size_t i) -> std::string_view { return content_->tensors[i].name; };
        const auto it = std::ranges::lower_bound(content_->by_name, name, {}, name_of);
        return it != content_->by_name.end() && name_of(*it) == name ? &content_->tensors[*it] : nullptr;
    }

    /// Throws spec_error when there is no such tensor.
    const any_tensor_view& at(std::string_view name) const {
        if (const named_tensor* t = find(name)) return t->view;
        throw spec_error("the checkpoint has no tensor of this name", {.tensor = std::string(name)});
    }

private:
    struct content {
        std::shared_ptr<const void> owner;
        std::vector<named_tensor> tensors;
        std::vector<std::size_t> by_name;
    };

    model_view(std::shared_ptr<const void> owner, std::vector<named_tensor> tensors) {
        auto by_name = detail::sorted_by_name(tensors);
        content_ = std::make_shared<const content>(content{std::move(owner), std::move(tensors), std::move(by_name)});
    }

    static std::vector<named_tensor> list(const auto& c) {
        std::vector<named_tensor> result;
        for (auto&& t : c.tensors()) result.push_back(t);
        return result;
    }

    template <class C>
    static model_view take(C&& c) {
        if constexpr (std::is_lvalue_reference_v<C>) {
            return {nullptr, list(c)};
        } else {
            auto owner = std::make_shared<const std::remove_cvref_t<C>>(std::forward<C>(c));
            auto tensors = list(*owner);
            return {std::move(owner), std::move(tensors)};
        }
    }

    std::shared_ptr<const content> content_;
};

/// A trainer's live buffers: a checkpoint to read from, and one that a result can be written into.
/// Throws spec_error when two tensors have one name.
class mutable_model_view {
public:
    mutable_model_view(std::initializer_list<mutable_named_tensor> tensors)
        : mutable_model_view(std::vector<mutable_named_tensor>(tensors)) {}
    explicit mutable_model_view(std::vector<mutable_named_tensor> tensors) : tensors_(std::move(tensors)) {
        detail::sorted_by_name(tensors_);
    }

    const std::vector<mutable_named_tensor>& tensors() const { return tensors_; }

private:
    std::vector<mutable_named_tensor> tensors_;
};

} // namespace plait
