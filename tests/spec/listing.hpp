#pragma once

#include <plait/model/model_view.hpp>
#include <plait/spec/bind.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// A checkpoint of these names and shapes, whose elements nobody reads.
inline plait::model_view listing(const std::vector<std::pair<std::string, plait::shape>>& tensors,
                                 plait::dtype type = plait::dtype::f32) {
    static const std::byte memory{};
    std::vector<plait::named_tensor> result;
    for (const auto& [name, s] : tensors) result.push_back({name, plait::any_tensor_view(type, &memory, s)});
    return plait::model_view(std::move(result));
}

/// A bound spec in words: "name axis:extent/group ..." per tensor, then "group size activation uses" per group.
inline std::string described(const plait::bound_spec& spec) {
    std::string text;
    for (const auto& t : spec.tensors()) {
        text += t.name;
        for (const auto& f : t.factors) {
            text += " " + std::to_string(f.axis) + ":" + std::to_string(f.extent);
            if (f.group) text += "/" + spec.groups()[*f.group].name;
        }
        text += "\n";
    }
    for (const auto& g : spec.groups()) {
        text += g.name + " " + std::to_string(g.size) + " " + std::to_string(static_cast<int>(g.activation));
        for (const auto& u : g.uses) text += " " + spec.tensors()[u.tensor].name + "." + std::to_string(u.factor);
        text += "\n";
    }
    return text;
}
