#pragma once

#include <plait/align/alignment.hpp>
#include <plait/align/permute.hpp>
#include <plait/core/parallel.hpp>
#include <plait/fuse/merge.hpp>
#include <plait/fuse/policy.hpp>
#include <plait/merge/describe.hpp>
#include <plait/merge/sink.hpp>
#include <plait/model/digest.hpp>
#include <plait/model/model.hpp>
#include <plait/model/model_list.hpp>
#include <plait/model/same_tensors.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait {

/// What a fusion did.
struct fusion_report : merge_report {
    std::vector<model_report> models = {}; ///< what moved, per model
};

/// The fused model, the alignment that it was merged under, and the report.
struct fused_model : model {
    alignment order;
    fusion_report report;
};

namespace detail {

// Options whose progress runs from `from` to `to`.
inline run_options part_of(const run_options& options, double from, double to) {
    run_options part = options;
    if (options.on_progress)
        part.on_progress = [&options, from, to](double share) { options.on_progress(from + share * (to - from)); };
    return part;
}

/// One run of a policy: align first, then merge into a sink.
template <class Policy>
class fusion {
public:
    fusion(std::span<const model_view> models, const Policy& policy, const run_options& options)
        : models_(models), policy_(policy), options_(options) {
        if constexpr (is_aligned) {
            check_options(); // wrong ones show before the long work
            order_ = policy_.alignment.align(base_of(policy_), models_, part_of(options_, 0, after_alignment));
        } else {
            order_ = alignment(models_.size());
        }
    }

    void merge_to_sink(block_sink& sink) {
        const run_options rest = part_of(options_, is_aligned ? after_alignment : 0, 1);
        static_cast<merge_report&>(report_) =
            merge_to(sink, models_, base_of(policy_), order_, any_method(policy_.method), rest);
    }

    void repair(model& merged) const {
        if constexpr (!is_final) {
            std::vector<model_view> inputs;
            for (std::size_t k = 0; k < models_.size(); ++k) inputs.emplace_back(permute(models_[k], order_.model(k)));
            policy_.repair.repair(merged, inputs, {.threads = options_.threads});
        }
    }

    fusion_report report() && {
        for (std::size_t k = 0; k < order_.size(); ++k) report_.models.push_back(order_.report(k));
        return std::move(report_);
    }
    const alignment& order() const { return order_; }

    /// Null when the policy merges the weights themselves.
    static const model_view* base_of(const Policy& policy) {
        if constexpr (decltype(Policy::space)::deltas)
            return &policy.space.base();
        else
            return nullptr;
    }

    /// Whether what the merge writes is the result; a repair needs the whole model first.
    static constexpr bool is_final = std::same_as<decltype(Policy::repair), no_repair>;

private:
    void check_options() const {
        const any_method method(policy_.method);
        std::vector<const named_tensor*> merged;
        for (const named_tensor& t : models_[0].tensors())
            if (is_floating(t.view.type())) merged.push_back(&t);
        std::ranges::sort(merged, {}, [](const named_tensor* t) -> const std::string& { return t->name; });
        std::vector<std::string_view> names;
        model_context all{.models = models_.size()};
        for (const named_tensor* t : merged) {
            names.push_back(t->name);
            all.elements += t->view.shape().size();
        }
        all.names = names;
        const auto survey = method.survey && !merged.empty() ? method.survey(all) : nullptr;
        for (const named_tensor* t : merged) method.start({t->name, t->view.shape(), models_.size()}, survey.get());
    }

    static constexpr bool is_aligned = !std::same_as<decltype(Policy::alignment), unaligned>;
    static constexpr double after_alignment = 0.8;

    std::span<const model_view> models_;
    const Policy& policy_;
    const run_options& options_;
    alignment order_;
    fusion_report report_;
};

/// Fuses into a model that has the right tensors, which may differ in floating types from those of the first model.
template <class Policy>
fusion<Policy> fuse_models(model& result, std::span<const model_view> models, const Policy& policy,
                           const run_options& options) {
    memory_sink sink(result.tensors());
    sink.begin(models[0].tensors());
    fusion<Policy> run(models, policy, options);
    run.merge_to_sink(sink);
    run.repair(result);
    return run;
}

template <class Policy>
fused_model fuse_models(std::span<const model_view> models, const Policy& policy, const run_options& options) {
    check_same_tensors(models);
    fused_model result{like(models[0].tensors()), {}, {}};
    fusion<Policy> run = fuse_models(result, models, policy, options);
    result.order = run.order();
    result.report = std::move(run).report();
    return result;
}

/// Writes a finished model, which has the element types of the sink.
inline void deliver(const model& finished, block_sink& sink) {
    const auto tensors = finished.tensors();
    for (std::size_t t = 0; t < tensors.size(); ++t)
        sink.write(t, 0, std::span(tensors[t].view.bytes(), tensors[t].view.size_bytes()));
    sink.commit();
}

template <class Policy>
fusion_report fuse_into_sink(block_sink& sink, std::span<const model_view> models, const Policy& policy,
                             const run_options& options) {
    fusion<Policy> run(models, policy, options);
    run.merge_to_sink(sink);
    return std::move(run).report();
}

template <class Policy>
fusion_report fuse_and_deliver(block_sink& sink, model staged, std::span<const model_view> models, const Policy& policy,
                               const run_options& options) {
    fusion_report report = fuse_models(staged, models, policy, options).report();
    deliver(staged, sink);
    return report;
}

template <class Policy>
provenance provenance_of(std::span<const model_view> models, const model_view* base, const Policy& policy,
                         const run_options& options) {
    provenance result;
    for (const auto& part : {describe(policy.alignment), describe(policy.method), describe(policy.repair)})
        if (part != "unaligned{}" && part != "no_repair{}")
            result.recipe += (result.recipe.empty() ? "" : " | ") + part;
    for (const model_view& m : models) result.inputs.push_back(digest(m, {.threads = options.threads}));
    if (base) result.base = digest(*base, {.threads = options.threads});
    return result;
}

template <checkpoint_sink Out, class Policy>
fusion_report fuse_models_into(Out& out, std::span<const model_view> models, const Policy& policy,
                               const run_options& options) {
    check_same_tensors(models);
    const std::vector<named_tensor>& plan = models[0].tensors();
    // The output begins first: what is wrong with it shows before the long work.
    if constexpr (streaming_sink<Out>) {
        if constexpr (recording_sink<Out>)
            if (out.wants_provenance())
                out.record(provenance_of(models, fusion<Policy>::base_of(policy), policy, options));
        stream_sink<Out> sink(out);
        sink.begin(plan);
        if constexpr (fusion<Policy>::is_final)
            return fuse_into_sink(sink, models, policy, options);
        else
            return fuse_and_deliver(sink, like(plan), models, policy, options);
    } else {
        std::vector<mutable_named_tensor> tensors;
        for (auto&& t : out.tensors()) tensors.push_back(t);
        memory_sink sink(std::move(tensors));
        sink.begin(plan);
        const model_view* base = fusion<Policy>::base_of(policy);
        const bool is_apart = !sink.overlaps(models) && !(base && sink.overlaps({base, 1}));
        if (fusion<Policy>::is_final && is_apart && !may_refuse_values<std::remove_cvref_t<decltype(policy.method)>>)
            return fuse_into_sink(sink, models, policy, options);
        return fuse_and_deliver(sink, sink.staged(plan), models, policy, options);
    }
}

} // namespace detail

/// Fuses models into one: aligns, merges and repairs as the policy says.
///
/// The result has the tensors of the first model, in its order and types. Throws spec_error, shape_error, option_error
/// before any work; value_error and dtype_error when the values do not allow it. Same input, same bytes, whatever the
/// threads.
///     model m = fuse({a, b}, weight_matching{spec} | average{});
template <class P>
fused_model fuse(model_list models, const P& policy, const run_options& options = {}) {
    static_assert(fusion_policy<P>, "plait: fuse(models, policy): a policy is a merge method or alignment | "
                                    "task_vectors | method | repair");
    if constexpr (fusion_policy<P>)
        return detail::fuse_models(std::span(models.begin(), models.size()), detail::as_policy(policy), options);
    else
        return {};
}
template <model_range Models, class P>
fused_model fuse(const Models& models, const P& policy, const run_options& options = {}) {
    static_assert(fusion_policy<P>, "plait: fuse(models, policy): a policy is a merge method or alignment | "
                                    "task_vectors | method | repair");
    const auto views = detail::views_of(models);
    if constexpr (fusion_policy<P>)
        return detail::fuse_models(std::span<const model_view>(views), detail::as_policy(policy), options);
    else
        return {};
}

/// Fuses into a file, a model or a trainer's live buffers. Files appear complete or not at all. Buffers that share
/// memory with an input or the base are overwritten only once the result is complete; others are written as the merge
/// goes.
///     auto out = io::create("fused.safetensors");
///     fuse_into(out, {a, b}, weight_matching{spec} | average{});
template <class Out, class P>
fusion_report fuse_into(Out& out, model_list models, const P& policy, const run_options& options = {}) {
    static_assert(checkpoint_sink<Out>,
                  "plait: fuse_into(out, models, policy): out is a file that io::create made, a model "
                  "or a mutable_model_view, by name");
    static_assert(fusion_policy<P>, "plait: fuse_into(out, models, policy): a policy is a merge method or alignment | "
                                    "task_vectors | method | repair");
    if constexpr (checkpoint_sink<Out> && fusion_policy<P>)
        return detail::fuse_models_into(out, std::span(models.begin(), models.size()), detail::as_policy(policy),
                                        options);
    else
        return {};
}
template <class Out, model_range Models, class P>
fusion_report fuse_into(Out& out, const Models& models, const P& policy, const run_options& options = {}) {
    static_assert(checkpoint_sink<Out>,
                  "plait: fuse_into(out, models, policy): out is a file that io::create made, a model "
                  "or a mutable_model_view, by name");
    static_assert(fusion_policy<P>, "plait: fuse_into(out, models, policy): a policy is a merge method or alignment | "
                                    "task_vectors | method | repair");
    const auto views = detail::views_of(models);
    if constexpr (checkpoint_sink<Out> && fusion_policy<P>)
        return detail::fuse_models_into(out, std::span<const model_view>(views), detail::as_policy(policy), options);
    else
        return {};
}

} // namespace plait
