#pragma once

#include <plait/model/model_view.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace plait::detail {

/// Throws one shape_error that lists every tensor that `other` lacks, has too many, or has in another shape than
/// `first`. `at` names `other`.
inline void check_same_tensors(const model_view& first, const model_view& other, location at) {
    std::string faults;
    const auto fault = [&](const std::string& name, const std::string& what) {
        at.tensor = name;
        faults += (faults.empty() ? "" : "; ") + sentence(at, what);
    };
    for (const auto& [name, view] : first.tensors()) {
        const named_tensor* found = other.find(name);
        if (!found)
            fault(name, "missing, expected shape " + to_string(view.shape()) + " as in the first model");
        else if (found->view.shape() != view.shape())
            fault(name, "shape is " + to_string(found->view.shape()) + ", expected " + to_string(view.shape())
                            + " as in the first model");
    }
    for (const auto& [name, view] : other.tensors())
        if (!first.find(name)) fault(name, "not expected, the first model has no such tensor");
    if (!faults.empty()) throw shape_error(faults);
}

/// The same for all models, and for the base if there is one. Throws option_error when there is no model.
inline void check_same_tensors(std::span<const model_view> models, const model_view* base = nullptr) {
    if (models.empty()) throw option_error("there are no models, expected one or more");
    for (std::size_t i = 1; i < models.size(); ++i) check_same_tensors(models[0], models[i], {.model = i});
    if (base) check_same_tensors(models[0], *base, {.file = "the base"});
}

} // namespace plait::detail
