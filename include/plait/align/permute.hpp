#pragma once

#include <plait/align/model_map.hpp>
#include <plait/model/model.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace plait {

/// A copy of a model with its units mapped: the same function, in another order.
///
/// Elements that no scale touches are copied bit for bit. Throws spec_error or shape_error when a tensor of the map's
/// spec is missing or has another shape, dtype_error when a scale would touch elements that are not floating point.
/// Complexity: one pass over the tensors.
///     model m = permute(b, al.model(1));   // b in the order of the anchor
inline model permute(const model_view& source, const model_map& map) {
    detail::check_fits(map, source);
    model result;
    for (const named_tensor& t : source.tensors()) {
        const gathered_view from = detail::mapped(t, map);
        const mutable_any_tensor_view to = result.add(t.name, t.view.type(), t.view.shape());
        if (!from.is_scaled()) {
            from.copy(0, from.size(), to.bytes());
            continue;
        }
        std::vector<double> values(std::min<std::size_t>(8192, from.size()));
        visit_floating(t.view.type(), [&]<class T>(T) {
            T* out = reinterpret_cast<T*>(to.bytes());
            for (std::size_t i = 0; i < from.size(); i += values.size()) {
                const std::size_t n = std::min(values.size(), from.size() - i);
                from.read(i, n, values.data());
                for (std::size_t k = 0; k < n; ++k) out[i + k] = static_cast<T>(values[k]);
            }
        });
    }
    return result;
}

} // namespace plait
