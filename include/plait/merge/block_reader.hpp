#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/core/instruction_set.hpp>
#include <plait/core/scratch.hpp>
#include <plait/merge/merge_input.hpp>
#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace plait::detail {

/// Delivers blocks of up to `length` elements of one tensor of every model, widened to F, the base subtracted. Memory
/// is that of the tensors where nothing has to be done to them.
template <std::floating_point F>
class block_reader {
public:
    block_reader(const merge_input& input, std::size_t length)
        : input_(input), length_(length), values_(input.models.size()) {}

    /// n elements from `first` on; the block says that they are those from `stated` on. It is gone with the next one.
    block<F> read(std::size_t first, std::size_t n, std::size_t stated) {
        std::span<const F> base;
        if (input_.base) base = read(*input_.base, first, n, values_.size());
        for (std::size_t k = 0; k < values_.size(); ++k) {
            values_[k] = read(input_.models[k], first, n, k);
            if (!input_.base) continue;
            F* own = buffer_of(k);
            subtract(values_[k].data(), base.data(), n, own);
            values_[k] = {own, n};
        }
        return {stated, values_, base};
    }

private:
    F* buffer_of(std::size_t k) { return buffer_.of<F>(length_ * (values_.size() + 1)) + k * length_; }

    std::span<const F> read(const gathered_view& from, std::size_t first, std::size_t n, std::size_t k) {
        if (const F* memory = from.template in_place<F>()) return {memory + first, n};
        from.read(first, n, buffer_of(k));
        return {buffer_of(k), n};
    }

    static void subtract(const F* a, const F* b, std::size_t n, F* out) {
        with_widest_vectors([=]() PLAIT_ALWAYS_INLINE {
            for (std::size_t e = 0; e < n; ++e) out[e] = a[e] - b[e];
        });
    }

    const merge_input& input_;
    std::size_t length_;
    scratch buffer_;
    std::vector<std::span<const F>> values_;
};

/// Delivers blocks as they lie in memory, of an input that is_uniform().
class raw_reader {
public:
    explicit raw_reader(const merge_input& input)
        : input_(input), width_(bits(input.models[0].type()) / 8), from_(input.models.size()) {
        is_in_order_ =
            std::ranges::all_of(input.models, &gathered_view::contiguous) && (!input.base || input.base->contiguous());
    }

    /// The length to read: what is reordered is gathered in blocks that stay in the caches.
    std::size_t length(std::size_t in_order, std::size_t gathered) {
        length_ = is_in_order_ ? in_order : gathered;
        return length_;
    }

    /// n elements from `first` on, at most length().
    raw_block read(std::size_t first, std::size_t n, std::size_t stated) {
        for (std::size_t k = 0; k < from_.size(); ++k) from_[k] = read(input_.models[k], first, n, k);
        const std::byte* base = input_.base ? read(*input_.base, first, n, from_.size()) : nullptr;
        return {input_.models[0].type(), stated, n, from_, base};
    }

private:
    const std::byte* read(const gathered_view& from, std::size_t first, std::size_t n, std::size_t k) {
        if (const std::byte* memory = from.contiguous()) return memory + first * width_;
        const std::size_t size = length_ * width_;
        std::byte* own = gathered_.of<std::byte>((from_.size() + 1) * size) + k * size;
        from.copy(first, n, own);
        return own;
    }

    const merge_input& input_;
    std::size_t width_;
    std::size_t length_ = 0;
    bool is_in_order_ = true;
    scratch gathered_;
    std::vector<const std::byte*> from_;
};

} // namespace plait::detail
