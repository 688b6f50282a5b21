#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/core/instruction_set.hpp>
#include <plait/core/parallel.hpp>
#include <plait/core/scratch.hpp>
#include <plait/merge/any_method.hpp>
#include <plait/merge/block_reader.hpp>
#include <plait/merge/merge_input.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/sink.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// What became of the tensors of a merge.
struct merge_report {
    std::size_t merged = 0;               ///< tensors of floating point
    std::vector<std::string> copied = {}; ///< all others: equal in all models, or taken from the first
};

namespace detail {

/// Streams the tensors of several models through a method into a sink. What it writes does not depend on the number of
/// threads. Memory: a few blocks per model and thread.
class merge_engine {
public:
    static constexpr std::size_t block_elements = 4096;
    static constexpr std::size_t task_elements = 256 * block_elements;
    static constexpr std::size_t long_part = 16 * block_elements; ///< of what needs no blocks

    /// Everything that can be checked is checked here, before anything is written. The sink has begun with the tensors
    /// of the first model; models and base have the same tensors.
    merge_engine(std::span<const model_view> models, const model_view* base, const tensor_reader& read,
                 const any_method& method, block_sink& sink, const run_options& options)
        : sink_(sink), options_(options), threads_(checked_threads(options)) {
        std::string unequal;
        for (const named_tensor& t : models[0].tensors()) {
            merge_input input;
            for (std::size_t k = 0; k < models.size(); ++k) input.models.push_back(read(k, *models[k].find(t.name)));
            if (base) input.base = read(models.size(), *base->find(t.name));
            plan_.push_back(t);
            if (!input.is_floating()) {
                report_.copied.push_back(t.name);
                if (method.integers == integer_policy::must_be_equal && !input.all_equal())
                    unequal += (unequal.empty() ? "" : ", ") + in_quotes(t.name);
                if (const dtype wanted = output_type(inputs_.size()); wanted != t.view.type())
                    throw dtype_error("the tensor is copied and the output holds " + std::string(name(wanted))
                                          + ", expected " + std::string(name(t.view.type())),
                                      {.tensor = t.name});
            }
            inputs_.push_back(std::move(input));
        }
        start_runs(method);
        if (!unequal.empty())
            throw dtype_error(
                "these tensors are not floating point and differ between the models, expected equal values, "
                "or "
                + (method.has_integers
                       ? std::string(method.name) + "{.integers = integer_policy::take_first}: "
                       : "with_integers(integer_policy::take_first, " + std::string(method.name) + "{...}): ")
                + unequal);
    }

    merge_report run() {
        const auto is_left = [&](std::size_t t) {
            return !std::ranges::all_of(tasks_of(t), [&](const task& part) { return is_there(part); });
        };
        if (survey_ && std::ranges::any_of(by_name_, is_left)) observe(*survey_, survey_groups(), threads_);
        std::vector<task> tasks;
        std::vector<std::size_t> large; // tensors of several tasks that a method has to see whole first
        for (std::size_t t = 0; t < plan_.size(); ++t) {
            const bool is_first_seen = runs_[t] && !runs_[t]->is_settled();
            const auto own = tasks_of(t);
            if (is_first_seen && own.size() > 1)
                large.push_back(t);
            else
                tasks.insert(tasks.end(), own.begin(), own.end());
        }
        std::size_t total = tasks.size();
        for (std::size_t t : large) total += tasks_of(t).size();
        progress done(options_, total);
        const auto complete = [&](const task& t) {
            if (!is_there(t)) {
                block_combiner* own = runs_[t.tensor].get();
                if (own && !own->is_settled()) observe(*own, {{t}}, 1); // its only task
                finish(t);
            }
            done.advance();
        };
        parallel_for(tasks.size(), threads_, [&](std::size_t i) { complete(tasks[i]); });
        for (std::size_t t : large) {
            const auto own = tasks_of(t);
            std::vector<std::vector<task>> groups;
            for (const task& part : own) groups.push_back({part});
            if (is_left(t)) observe(*runs_[t], groups, threads_);
            parallel_for(own.size(), threads_, [&](std::size_t i) { complete(own[i]); });
        }
        sink_.commit();
        return std::move(report_);
    }

private:
    struct task {
        std::size_t tensor, first, count;
        std::size_t offset = 0; // of the tensor's first element, as its blocks state it
    };

    std::vector<task> tasks_of(std::size_t tensor) const {
        std::vector<task> tasks;
        const std::size_t size = inputs_[tensor].models[0].size();
        const std::size_t block = block_of(tensor);
        const std::size_t length = std::max<std::size_t>(1, task_elements / block) * block;
        for (std::size_t first = 0; first < size; first += length)
            tasks.push_back({tensor, first, std::min(length, size - first)});
        return tasks;
    }

    // Whether an earlier run has written it.
    bool is_there(const task& t) const {
        const std::size_t width = bits(output_type(t.tensor)) / 8;
        return sink_.has(t.tensor, t.first * width, t.count * width);
    }

    // Elements of a block.
    std::size_t block_of(std::size_t tensor) const {
        const std::size_t together = runs_[tensor] ? std::max<std::size_t>(1, runs_[tensor]->elements_together()) : 1;
        return std::max<std::size_t>(1, block_elements / together) * together;
    }

    void finish(const task& t) const {
        if (!runs_[t.tensor])
            copy(t);
        else if (runs_[t.tensor]->takes_raw() && inputs_[t.tensor].is_uniform()
                 && inputs_[t.tensor].models[0].type() == output_type(t.tensor))
            merge_raw(t);
        else
            merge(t);
    }

    // Begins the survey and the run of every merged tensor.
    void start_runs(const any_method& method) {
        model_context all;
        runs_.resize(plan_.size());
        offsets_.resize(plan_.size());
        for (std::size_t t = 0; t < plan_.size(); ++t)
            if (inputs_[t].is_floating()) by_name_.push_back(t);
        std::ranges::sort(by_name_, {}, [&](std::size_t t) -> const std::string& { return plan_[t].name; });
        std::vector<std::string_view> names;
        for (const std::size_t t : by_name_) names.push_back(plan_[t].name);
        all.names = names;
        for (const std::size_t t : by_name_) {
            offsets_[t] = all.elements;
            all.elements += plan_[t].view.shape().size();
            all.is_wide = all.is_wide || inputs_[t].is_wide();
            all.models = inputs_[t].models.size();
        }
        report_.merged = by_name_.size();
        if (method.survey && !by_name_.empty()) survey_ = method.survey(all);
        for (const std::size_t t : by_name_)
            runs_[t] = method.start({plan_[t].name, plan_[t].view.shape(), all.models, inputs_[t].is_wide(),
                                     offsets_[t], inputs_[t].models[0].type()},
                                    survey_.get());
    }

    // The merged tensors in the order of names, so that a survey does not depend on that in the files.
    std::vector<std::vector<task>> survey_groups() const {
        std::vector<std::vector<task>> groups;
        std::size_t left = 0;
        for (const std::size_t t : by_name_) {
            for (task part : tasks_of(t)) {
                if (groups.empty() || left < part.count) {
                    groups.emplace_back();
                    left = std::max(task_elements, part.count);
                }
                left -= part.count;
                part.offset = offsets_[t];
                groups.back().push_back(part);
            }
        }
        return groups;
    }

    // All passes that the survey wants to make. Partials are added in the order of the groups of tasks, so the sums do
    // not depend on the threads; as many are held at once as there are threads.
    void observe(block_survey& survey, const std::vector<std::vector<task>>& groups, std::size_t threads) const {
        while (!survey.is_settled()) {
            const auto whole = survey.observer();
            for (std::size_t first = 0; first < groups.size(); first += threads) {
                std::vector<std::unique_ptr<block_observer>> parts(std::min(threads, groups.size() - first));
                parallel_for(parts.size(), threads, [&](std::size_t i) {
                    parts[i] = survey.observer();
                    for (const task& t : groups[first + i]) {
                        if (inputs_[t.tensor].needs_double())
                            observe<double>(t, survey, *parts[i]);
                        else
                            observe<float>(t, survey, *parts[i]);
                    }
                });
                for (const auto& part : parts) whole->add(std::move(*part));
            }
            survey.settle(*whole);
        }
    }

    // What the survey wants of the blocks of a task, in their order.
    template <class F>
    void observe(const task& t, const block_survey& survey, block_observer& seen) const {
        const merge_input& input = inputs_[t.tensor];
        const std::size_t length = block_of(t.tensor);
        block_reader<F> wide(input, std::min(t.count, length));
        raw_reader raw(input);
        raw.length(length, length);
        bool is_raw = input.is_uniform();
        in_parts(t, length, [&](std::size_t i, std::size_t n) {
            n = std::min(n, survey.wanted(t.offset + i));
            if (n == 0) return;
            is_raw = is_raw && seen.observe(raw.read(i, n, t.offset + i));
            if (!is_raw) seen.observe(wide.read(i, n, t.offset + i));
        });
    }

    dtype output_type(std::size_t tensor) const { return sink_.type(tensor, plan_[tensor].view.type()); }

    // fill(bytes) produces the `size` bytes that belong at `offset`, straight into the sink's memory where it offers
    // that. Where it returns false nothing is written, which is what this returns then.
    template <class Fill>
    bool write(std::size_t tensor, std::size_t offset, std::size_t size, scratch& spare, Fill fill) const {
        if (std::byte* memory = sink_.region(tensor, offset)) return fill(memory);
        auto* bytes = spare.template of<std::byte>(size);
        if (!fill(bytes)) return false;
        sink_.write(tensor, offset, {bytes, size});
        return true;
    }

    // see(first, count) for the parts of a task.
    template <class See>
    static void in_parts(const task& t, std::size_t length, See see) {
        for (std::size_t i = t.first; i < t.first + t.count; i += length)
            see(i, std::min(length, t.first + t.count - i));
    }

    void copy(const task& t) const {
        const gathered_view& from = inputs_[t.tensor].models[0];
        const std::size_t width = bits(from.type()) / 8;
        scratch spare;
        in_parts(t, long_part, [&](std::size_t i, std::size_t n) {
            write(t.tensor, i * width, n * width, spare, [&](std::byte* to) {
                from.copy(i, n, to);
                return true;
            });
        });
    }

    void merge_raw(const task& t) const {
        const std::size_t block = block_of(t.tensor);
        raw_reader from(inputs_[t.tensor]);
        const std::size_t length = from.length(std::max<std::size_t>(1, long_part / block) * block, block);
        const std::size_t width = bits(inputs_[t.tensor].models[0].type()) / 8;
        scratch spare;
        in_parts(t, length, [&](std::size_t i, std::size_t n) {
            const raw_block b = from.read(i, n, i);
            const bool is_merged = write(t.tensor, i * width, n * width, spare,
                                         [&](std::byte* to) { return runs_[t.tensor]->combine(b, to); });
            if (!is_merged) merge({t.tensor, i, n});
        });
    }

    void merge(const task& t) const {
        if (inputs_[t.tensor].needs_double())
            merge_as<double>(t);
        else
            merge_as<float>(t);
    }

    template <class F>
    void merge_as(const task& t) const {
        const std::size_t block = block_of(t.tensor);
        const std::size_t length = std::min(t.count, block);
        block_reader<F> from(inputs_[t.tensor], length);
        scratch sums, spare;
        in_parts(t, block, [&](std::size_t i, std::size_t n) {
            const auto b = from.read(i, n, i);
            auto* sum = sums.of<double>(length);
            runs_[t.tensor]->combine(b, {sum, n});
            for (std::size_t e = 0; e < b.base.size(); ++e) sum[e] += static_cast<double>(b.base[e]);
            visit_floating(output_type(t.tensor), [&]<class T>(T) {
                write(t.tensor, i * sizeof(T), n * sizeof(T), spare, [&](std::byte* to) {
                    narrow<T>(sum, n, to);
                    return true;
                });
            });
        });
    }

    block_sink& sink_;
    const run_options& options_;
    std::size_t threads_;
    std::vector<named_tensor> plan_;
    std::vector<merge_input> inputs_;
    std::vector<std::size_t> by_name_;                  // the merged tensors in the order of names
    std::vector<std::size_t> offsets_;                  // of the merged tensors among the elements of all
    std::unique_ptr<block_survey> survey_;              // null for methods that need none
    std::vector<std::unique_ptr<block_combiner>> runs_; // null for tensors that are copied
    merge_report report_;
};

} // namespace detail
} // namespace plait
