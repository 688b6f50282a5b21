#pragma once

#include <plait/core/byte_range.hpp>
#include <plait/model/model.hpp>
#include <plait/model/model_view.hpp>
#include <plait/model/provenance.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// Where a merge writes. begin() learns names, types and shapes (the memory of the plan's views is not looked at);
/// write() takes bytes of tensor `tensor` of the plan, row-major, from byte `offset` on, and is called from several
/// threads for separate ranges; commit() comes when every byte is written. Without commit() nothing may change.
template <class S>
concept streaming_sink = requires(S& sink, std::span<const named_tensor> plan, std::size_t tensor, std::size_t offset,
                                  std::span<const std::byte> bytes) {
    sink.begin(plan);
    sink.write(tensor, offset, bytes);
    sink.commit();
};

/// A sink that keeps how its contents came about is told before begin().
template <class S>
concept recording_sink = streaming_sink<S> && requires(S& sink, const provenance& p) {
    { sink.wants_provenance() } -> std::same_as<bool>;
    sink.record(p);
};

/// A sink that goes on with what an earlier run has written says what need not be written again.
template <class S>
concept resuming_sink = streaming_sink<S> && requires(const S& sink, std::size_t tensor, std::size_t offset,
                                                      std::size_t size) {
    { sink.has(tensor, offset, size) } -> std::same_as<bool>;
};

/// What fuse_into writes to: a file, or memory such as a model or a trainer's live buffers.
template <class O>
concept checkpoint_sink = streaming_sink<O> || writable_checkpoint<O>;

namespace detail {

/// What the engine writes to. A sink with a choice of element type or with memory of its own says so.
class block_sink {
public:
    virtual ~block_sink() = default;
    virtual void begin(std::span<const named_tensor> plan) = 0;
    virtual void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes) = 0;
    virtual void commit() = 0;

    /// The element type that is written, given that of the plan.
    virtual dtype type(std::size_t, dtype planned) const { return planned; }
    /// Whether these bytes are there from an earlier run.
    virtual bool has(std::size_t, std::size_t, std::size_t) const { return false; }
    /// The memory of a row-major tensor from byte `offset` on; null when bytes must be handed over by write().
    virtual std::byte* region(std::size_t, std::size_t) const { return nullptr; }
};

template <streaming_sink S>
class stream_sink final : public block_sink {
public:
    explicit stream_sink(S& sink) : sink_(sink) {}
    void begin(std::span<const named_tensor> plan) override { sink_.begin(plan); }
    void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes) override {
        sink_.write(tensor, offset, bytes);
    }
    void commit() override { sink_.commit(); }
    bool has(std::size_t tensor, std::size_t offset, std::size_t size) const override {
        if constexpr (resuming_sink<S>)
            return sink_.has(tensor, offset, size);
        else
            return false;
    }

private:
    S& sink_;
};

/// Writes into tensors in memory, whatever their strides. Unlike a file it has no commit: it is written in place.
class memory_sink : public block_sink {
public:
    explicit memory_sink(std::vector<mutable_named_tensor> tensors) : tensors_(std::move(tensors)) {
        sorted_by_name(tensors_);
    }

    /// Throws shape_error or dtype_error unless the tensors are those of the plan. Floating types may differ.
    void begin(std::span<const named_tensor> plan) override {
        const auto by_name = sorted_by_name(tensors_);
        const auto name_of = [&](std::size_t i) -> std::string_view { return tensors_[i].name; };
        std::string faults;
        const auto fault = [&](const std::string& tensor, const std::string& what) {
            faults += (faults.empty() ? "" : "; ") + sentence({.tensor = tensor}, what);
        };
        targets_.clear();
        std::vector<bool> used(tensors_.size());
        for (const auto& [name, view] : plan) {
            const auto it = std::ranges::lower_bound(by_name, std::string_view(name), {}, name_of);
            if (it == by_name.end() || name_of(*it) != name) {
                fault(name, "the output has no such tensor, expected shape " + to_string(view.shape()));
                continue;
            }
            used[*it] = true;
            const mutable_named_tensor& target = tensors_[*it];
            if (target.view.shape() != view.shape())
                fault(name, "the output has shape " + to_string(target.view.shape()) + ", expected "
                                + to_string(view.shape()));
            check_target(target, view.type());
            targets_.push_back(target.view);
        }
        // Views with strides may lie between each other; dense ones must lie apart.
        std::vector<std::pair<byte_range, std::size_t>> ranges;
        for (std::size_t i : by_name)
            if (const auto& view = tensors_[i].view; view.size() > 0 && view.is_row_major())
                ranges.emplace_back(byte_range(view), i);
        std::ranges::stable_sort(ranges, {}, [](const auto& r) { return r.first.begin; });
        for (std::size_t r = 1; r < ranges.size(); ++r)
            if (ranges[r].first.begin < ranges[r - 1].first.end)
                fault(tensors_[ranges[r].second].name, "the output lies in the memory of tensor "
                                                           + in_quotes(tensors_[ranges[r - 1].second].name)
                                                           + ", expected memory of its own");
        for (std::size_t i = 0; i < used.size(); ++i)
            if (!used[i]) fault(tensors_[i].name, "the output has this tensor, but the models do not");
        if (!faults.empty()) throw shape_error(faults);
    }

    dtype type(std::size_t tensor, dtype) const override { return targets_[tensor].type(); }

    std::byte* region(std::size_t tensor, std::size_t offset) const override {
        const mutable_any_tensor_view& v = targets_[tensor];
        return v.is_row_major() ? v.bytes() + offset : nullptr;
    }

    void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes) override {
        if (std::byte* to = region(tensor, offset)) {
            if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
            return;
        }
        const mutable_any_tensor_view& v = targets_[tensor];
        const std::size_t width = bits(v.type()) / 8;
        std::size_t element = offset / width;
        for (std::size_t at = 0; at < bytes.size(); at += width, ++element)
            std::memcpy(v.bytes() + offset_of(v, element) * static_cast<std::ptrdiff_t>(width), &bytes[at], width);
    }

    void commit() override {}

    /// Tensors as those of the plan, in the element types of the targets, to be filled in their stead.
    model staged(std::span<const named_tensor> plan) const {
        model result;
        for (std::size_t t = 0; t < plan.size(); ++t)
            result.add(plan[t].name, targets_[t].type(), plan[t].view.shape());
        return result;
    }

    /// Whether a target shares memory with a tensor of any of the models.
    bool overlaps(std::span<const model_view> models) const {
        std::vector<byte_range> own;
        for (const auto& t : tensors_) own.emplace_back(t.view);
        std::ranges::sort(own, {}, &byte_range::begin);
        for (std::size_t i = 1; i < own.size(); ++i) own[i].end = std::max(own[i].end, own[i - 1].end);
        for (const model_view& m : models) {
            for (const auto& t : m.tensors()) {
                const byte_range range(t.view);
                const auto after = std::ranges::lower_bound(own, range.end, {}, &byte_range::begin);
                if (after != own.begin() && std::prev(after)->end > range.begin) return true;
            }
        }
        return false;
    }

private:
    static void check_target(const mutable_named_tensor& t, dtype source) {
        const mutable_any_tensor_view& v = t.view;
        if (v.type() != source && !(is_floating(v.type()) && is_floating(source)))
            throw dtype_error("the output holds " + std::string(name(v.type())) + ", expected "
                                  + std::string(name(source)),
                              {.tensor = t.name});
        for (std::size_t axis = 0; axis < v.shape().rank(); ++axis)
            if (v.strides()[axis] == 0 && v.shape()[axis] > 1)
                throw shape_error("the output has stride 0, so its elements share memory and cannot be written",
                                  {.tensor = t.name, .axis = axis});
    }

    static std::ptrdiff_t offset_of(const mutable_any_tensor_view& v, std::size_t element) {
        std::ptrdiff_t offset = 0;
        for (std::size_t axis = v.shape().rank(); axis-- > 0; element /= v.shape()[axis])
            offset += static_cast<std::ptrdiff_t>(element % v.shape()[axis]) * v.strides()[axis];
        return offset;
    }

    std::vector<mutable_named_tensor> tensors_;
    std::vector<mutable_any_tensor_view> targets_; // in the order of the plan
};

} // namespace detail
} // namespace plait
