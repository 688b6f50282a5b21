#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/model/model_view.hpp>
#include <plait/permutation/unit_map.hpp>
#include <plait/spec/bound_spec.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// One map per unit group of a bound spec: what turns a model into the same function in another order of units.
class model_map {
public:
    /// Throws shape_error unless there is a map of the right size for every group.
    model_map(std::shared_ptr<const bound_spec> spec, std::vector<unit_map> maps)
        : spec_(std::move(spec)), maps_(std::move(maps)) {
        if (maps_.size() != spec_->groups().size())
            throw shape_error(std::to_string(maps_.size()) + " unit maps, expected one for each of "
                              + std::to_string(spec_->groups().size()) + " groups");
        for (std::size_t g = 0; g < maps_.size(); ++g)
            if (maps_[g].size() != spec_->groups()[g].size)
                throw shape_error("the map of group " + detail::in_quotes(spec_->groups()[g].name) + " has "
                                  + std::to_string(maps_[g].size()) + " units, expected "
                                  + std::to_string(spec_->groups()[g].size));
    }

    static model_map identity(std::shared_ptr<const bound_spec> spec) {
        std::vector<unit_map> maps;
        for (const unit_group& g : spec->groups()) maps.emplace_back(permutation::identity(g.size));
        return {std::move(spec), std::move(maps)};
    }

    /// Throws spec_error when there is no such group.
    const unit_map& group(std::string_view name) const { return maps_[spec_->group_index(name)]; }
    const unit_map& operator[](std::size_t group) const { return maps_[group]; }
    std::size_t size() const { return maps_.size(); }
    const bound_spec& spec() const { return *spec_; }

private:
    std::shared_ptr<const bound_spec> spec_;
    std::vector<unit_map> maps_;
};

namespace detail {

/// The loops over a tensor, one per factor. map_of(factor) is the unit_map of a factor's group, or null for none. On
/// axis 0 a group is written, so its scales multiply; on the other axes it is read, so they divide.
template <class MapOf>
std::vector<axis_level> levels_of(const bound_tensor& t, const any_tensor_view& v, MapOf map_of) {
    std::vector<axis_level> levels(t.factors.size());
    std::ptrdiff_t stride = 0;
    for (std::size_t f = levels.size(); f-- > 0;) {
        const bound_factor& factor = t.factors[f];
        const bool is_innermost = f + 1 == levels.size() || t.factors[f + 1].axis != factor.axis;
        if (is_innermost) stride = v.strides()[factor.axis];
        levels[f] = {factor.extent, stride};
        if (__builtin_mul_overflow(stride, factor.extent, &stride)) stride = 0; // of a tensor without elements
        if (const unit_map* map = map_of(f)) {
            levels[f].order = map->permutation().data();
            const auto& scales = factor.axis == 0 ? map->scales() : map->reciprocals();
            levels[f].scale = scales.empty() ? nullptr : scales.data();
        }
    }
    return levels;
}

/// Throws spec_error or shape_error unless the model has the tensors of the map's spec.
inline void check_fits(const model_map& map, const model_view& m) {
    for (const bound_tensor& t : map.spec().tensors())
        if (m.at(t.name).shape() != t.shape)
            throw shape_error("shape is " + to_string(m.at(t.name).shape()) + ", the map expects " + to_string(t.shape),
                              {.tensor = t.name});
}

/// A tensor of a model as it stands after the map. The map must outlive the result. Identity orders cost nothing.
/// Throws dtype_error when a scale would touch elements that are not floating point.
inline gathered_view mapped(const named_tensor& t, const model_map& map) {
    const bound_tensor* bound = map.spec().find_tensor(t.name);
    if (!bound || bits(t.view.type()) % 8) return gathered_view(t.view);
    const auto map_of = [&](std::size_t f) -> const unit_map* {
        const auto& group = bound->factors[f].group;
        if (!group) return nullptr;
        const unit_map& m = map[*group];
        return m.is_permutation() && m.permutation().moved() == 0 ? nullptr : &m;
    };
    gathered_view view(t.view.type(), t.view.bytes(), levels_of(*bound, t.view, map_of));
    if (view.is_scaled() && !is_floating(view.type()))
        throw dtype_error("a map scales " + std::string(name(view.type())) + " elements, expected floating point",
                          {.tensor = t.name});
    return view;
}

} // namespace detail
} // namespace plait
