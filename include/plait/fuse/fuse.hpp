#pragma once

#include <plait/align/alignment.hpp>
#include <plait/align/permute.hpp>
#include <plait/core/parallel.hpp>
#include <plait/fuse/merge.hpp>
#include <plait/fuse/policy.hpp>
#include <plait/merge/sink.hpp>
#include <plait/model/model.hpp>
#include <plait/model/model_list.hpp>
#include <plait/model/same_tensors.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
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
        check_same_tensors(models_);
        for (const named_tensor& t : models_[0].tensors()) // wrong options show before the long work
            if (is_floating(t.view.type())) policy_.method.start({t.name, t.view.shape(), models_.size()});
        if constexpr (is_aligned)
            order_ = policy_.alignment.align(base(), models_, part_of(options_, 0, after_alignment));
        else order_ = alignment(models_.size());
    }

    void merge_to_sink(block_sink& sink) {
        const run_options rest = part_of(options_, is_aligned ? after_alignment : 0, 1);
        static_cast<merge_report&>(report_) = merge_to(sink, models_, base(), order_, any_method(policy_.method), rest);
    }

    void repair(model& merged) const {
        if constexpr (!is_final) {
            std::vector<model_view> inputs;
            for (std::size_t k = 0; k < models_.size(); ++k) inputs.emplace_back(permute(models_[k], order_.model(k)));
            policy_.repair.repair(merged, inputs, options_);
        }
    }

    fusion_report report() && {
        for (std::size_t k = 0; k < order_.size(); ++k) report_.models.push_back(order_.report(k));
        return std::move(report_);
    }
    const alignment& order() const { return order_; }

    /// Whether what the merge writes is the result; a repair needs the whole model first.
    static constexpr bool is_final = std::same_as<decltype(Policy::repair), no_repair>;

private:
    static constexpr bool is_aligned = !std::same_as<decltype(Policy::alignment), unaligned>;
    static constexpr double after_alignment = 0.8;

    const model_view* base() const {
        if constexpr (decltype(Policy::space)::deltas) return &policy_.space.base();
        else return nullptr;
    }

    std::span<const model_view> models_;
    const Policy& policy_;
    const run_options& options_;
    alignment order_;
    fusion_report report_;
};

template <class Policy>
fused_model fuse_models(std::span<const model_view> models, const Policy& policy, const run_options& options) {
    fusion<Policy> run(models, policy, options);
    fused_model result;
    model_sink sink(result);
    run.merge_to_sink(sink);
    run.repair(result);
    result.order = run.order();
    result.report = std::move(run).report();
    return result;
}

/// Writes a finished model into a sink.
inline void deliver(const model& finished, block_sink& sink) {
    const auto tensors = finished.tensors();
    sink.begin(tensors);
    for (std::size_t t = 0; t < tensors.size(); ++t)
        sink.write(t, 0, std::span(tensors[t].view.bytes(), tensors[t].view.size_bytes()));
    sink.commit();
}

template <class Policy>
fusion_report fuse_models_to(block_sink& out, std::span<const model_view> models, const Policy& policy,
                               const run_options& options) {
    if constexpr (fusion<Policy>::is_final) {
        fusion<Policy> run(models, policy, options);
        run.merge_to_sink(out);
        return std::move(run).report();
    } else {
        const fused_model merged = fuse_models(models, policy, options);
        deliver(merged, out);
        return merged.report;
    }
}

template <checkpoint_sink Out, class Policy>
fusion_report fuse_models_into(Out& out, std::span<const model_view> models, const Policy& policy,
                               const run_options& options) {
    if constexpr (streaming_sink<Out>) {
        stream_sink<Out> sink(out);
        return fuse_models_to(sink, models, policy, options);
    } else {
        auto&& tensors = out.tensors();
        memory_sink sink(std::vector<mutable_named_tensor>(tensors.begin(), tensors.end()));
        check_same_tensors(models);
        sink.begin(models[0].tensors()); // a target that does not fit shows before the long work
        if (!sink.overlaps(models)) return fuse_models_to(sink, models, policy, options);
        const fused_model merged = fuse_models(models, policy, options);
        deliver(merged, sink);
        return merged.report;
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
    else return {};
}
template <model_range Models, class P>
fused_model fuse(const Models& models, const P& policy, const run_options& options = {}) {
    static_assert(fusion_policy<P>, "plait: fuse(models, policy): a policy is a merge method or alignment | "
                                    "task_vectors | method | repair");
    const auto views = detail::views_of(models);
    if constexpr (fusion_policy<P>)
        return detail::fuse_models(std::span<const model_view>(views), detail::as_policy(policy), options);
    else return {};
}

/// Fuses into a file, a model or a trainer's live buffers. Files appear complete or not at all. Buffers that share memory
/// with an input are overwritten only once the result is complete; others are written as the merge goes.
///     auto out = io::create("fused.safetensors");
///     fuse_into(out, {a, b}, weight_matching{spec} | average{});
template <checkpoint_sink Out, fusion_policy P>
fusion_report fuse_into(Out& out, model_list models, const P& policy, const run_options& options = {}) {
    return detail::fuse_models_into(out, std::span(models.begin(), models.size()), detail::as_policy(policy), options);
}
template <checkpoint_sink Out, model_range Models, fusion_policy P>
fusion_report fuse_into(Out& out, const Models& models, const P& policy, const run_options& options = {}) {
    const auto views = detail::views_of(models);
    return detail::fuse_models_into(out, std::span<const model_view>(views), detail::as_policy(policy), options);
}

} // namespace plait
