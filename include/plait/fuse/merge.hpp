#pragma once

#include <plait/align/alignment.hpp>
#include <plait/core/parallel.hpp>
#include <plait/merge/engine.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/sink.hpp>
#include <plait/model/model.hpp>
#include <plait/model/model_list.hpp>
#include <plait/model/same_tensors.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// Merges the models, each as `order` maps it, into a sink that has begun with the tensors of the first.
inline merge_report merge_to(block_sink& sink, std::span<const model_view> models, const model_view* base,
                             const alignment& order, const any_method& method, const run_options& options) {
    check_same_tensors(models, base);
    if (order.size() != models.size())
        throw option_error("the alignment is of " + std::to_string(order.size()) + " models, expected "
                           + std::to_string(models.size()));
    for (std::size_t k = 0; k < models.size(); ++k) check_fits(order.model(k), models[k]);
    if (base && order.anchor()) check_fits(*order.anchor(), *base);
    const auto read = [&](std::size_t k, const named_tensor& t) {
        if (k < models.size()) return mapped(t, order.model(k));
        return order.anchor() ? mapped(t, *order.anchor()) : gathered_view(t.view);
    };
    return merge_engine(models, base, read, method, sink, options).run();
}

/// A model with the tensors of a plan; their elements are undefined.
inline model like(std::span<const named_tensor> plan) {
    model result;
    for (const auto& [name, view] : plan) result.add(name, view.type(), view.shape());
    return result;
}

template <merge_method M>
model merge_models(std::span<const model_view> models, const alignment& order, const M& method,
                   const run_options& options) {
    static_assert(!wants_deltas<M>,
                  "plait: this method merges task vectors: write fuse(models, task_vectors{base} | method{...})");
    check_same_tensors(models);
    model result = like(models[0].tensors());
    memory_sink sink(result.tensors());
    sink.begin(models[0].tensors());
    merge_to(sink, models, nullptr, order, any_method(method), options);
    return result;
}

} // namespace detail

/// Merges models tensor by tensor, each as it is.
///
/// The result has the tensors of the first model, in its order and types. Throws shape_error when the models differ in
/// names or shapes, dtype_error when tensors that are not floating point differ, and what the method throws.
/// Complexity: one pass over all tensors; memory for the result and a few blocks per thread.
///     model m = merge({a, b}, average{});
template <merge_method M>
model merge(model_list models, const M& method, const run_options& options = {}) {
    return detail::merge_models(std::span(models.begin(), models.size()), alignment(models.size()), method, options);
}
template <model_range Models, merge_method M>
model merge(const Models& models, const M& method, const run_options& options = {}) {
    const auto views = detail::views_of(models);
    return detail::merge_models(std::span<const model_view>(views), alignment(views.size()), method, options);
}

/// The same, every model in the order that an alignment of these models found.
template <merge_method M>
model merge(model_list models, const alignment& order, const M& method, const run_options& options = {}) {
    static_assert(!reads_statistics<M>,
                  "plait: this method reads statistics in the order of its models: permute both first, then "
                  "merge(models, method{...})");
    return detail::merge_models(std::span(models.begin(), models.size()), order, method, options);
}
template <model_range Models, merge_method M>
model merge(const Models& models, const alignment& order, const M& method, const run_options& options = {}) {
    static_assert(!reads_statistics<M>,
                  "plait: this method reads statistics in the order of its models: permute both first, then "
                  "merge(models, method{...})");
    const auto views = detail::views_of(models);
    return detail::merge_models(std::span<const model_view>(views), order, method, options);
}

} // namespace plait
