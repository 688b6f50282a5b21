#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/core/tensor.hpp>
#include <plait/model/model_view.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plait {

/// A checkpoint that owns its tensors; copying copies them.
class model {
public:
    model() = default;

    /// A copy of any checkpoint's tensors, row-major.
    static model copy_of(const model_view& source) {
        model result;
        for (const auto& [name, view] : source.tensors()) {
            const gathered_view from(view);
            from.copy(0, from.size(), result.add(name, view.type(), view.shape()).bytes());
        }
        return result;
    }

    /// Appends a tensor; its elements start undefined. Returns a view that lives as long as the model's tensors.
    /// Throws spec_error when the name is taken.
    mutable_any_tensor_view add(std::string name, dtype d, shape s) {
        if (!index_.emplace(name, tensors_.size()).second)
            throw spec_error("the model already has a tensor of this name", {.tensor = std::move(name)});
        try {
            tensors_.push_back({name, tensor(d, std::move(s))});
        } catch (...) {
            index_.erase(name);
            throw;
        }
        return tensors_.back().value.view();
    }

    std::size_t size() const { return tensors_.size(); }

    std::vector<named_tensor> tensors() const {
        std::vector<named_tensor> result;
        result.reserve(size());
        for (const entry& e : tensors_) result.push_back({e.name, e.value.view()});
        return result;
    }
    std::vector<mutable_named_tensor> tensors() {
        std::vector<mutable_named_tensor> result;
        result.reserve(size());
        for (entry& e : tensors_) result.push_back({e.name, e.value.view()});
        return result;
    }

    /// Throws spec_error when there is no such tensor.
    any_tensor_view at(std::string_view name) const { return tensors_[position(name)].value.view(); }
    mutable_any_tensor_view at(std::string_view name) { return tensors_[position(name)].value.view(); }

private:
    struct entry {
        std::string name;
        tensor value;
    };

    std::size_t position(std::string_view name) const {
        if (const auto it = index_.find(std::string(name)); it != index_.end()) return it->second;
        throw spec_error("the model has no tensor of this name", {.tensor = std::string(name)});
    }

    std::vector<entry> tensors_;
    std::unordered_map<std::string, std::size_t> index_;
};

} // namespace plait
