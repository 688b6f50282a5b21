#pragma once

#include <plait/model/model_view.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace plait::detail {

/// Throws option_error when there is no model, and one shape_error that lists every tensor that `other` (called model
/// `index`) lacks, has too many, or has in another shape than `first`.
inline void check_same_tensors(const model_view& first, const model_view& other, std::size_t index) {
    std::string faults;
    const auto fault = [&](const std::string& name, const std::string& what) {
        faults += (faults.empty() ? "" : "; ") + sentence({.model = index, .tensor = name}, what);
    };
    for (const auto& [name, view] : first.tensors()) {
        const named_tensor* found = other.find(name);
        if (!found)
            fault(name, "missing, expected shape " + to_string(view.shape()) + " as in the first model");
        else if (found->view.shape() != view.shape())
            fault(name, "shape is " + to_string(found->view.shape()) + ", expected " + to_string(view.shape()) +
                            " as in the first model");
    }
    for (const auto& [name, view] : other.tensors())
        if (!first.find(name)) fault(name, "not expected, the first model has no such tensor");
    if (!faults.empty()) throw shape_error(faults);
}

inline void check_same_tensors(std::span<const model_view> models) {
    if (models.empty()) throw option_error("there are no models, expected one or more");
    for (std::size_t i = 1; i < models.size(); ++i) check_same_tensors(models[0], models[i], i);
}

} // namespace plait::detail
