#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/core/parallel.hpp>
#include <plait/core/xxh64.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plait {
namespace detail {

inline constexpr std::size_t digested_bytes = std::size_t{1} << 20; // by one hash

/// Of the elements of a view, row-major.
inline std::uint64_t digest_of_part(const any_tensor_view& view, std::size_t part) {
    const gathered_view from(view);
    const std::size_t width = bits(from.type()) / 8;
    const std::size_t length = digested_bytes / width;
    const std::size_t first = part * length;
    const std::size_t count = std::min(length, from.size() - first);
    if (const std::byte* memory = from.contiguous()) return xxh64({memory + first * width, count * width});
    std::vector<std::byte> copy(count * width);
    from.copy(first, count, copy.data());
    return xxh64(copy);
}

} // namespace detail

/// Tells models apart: "xxh64:" and 16 digits that depend on names, types, shapes and elements, and on nothing else. It
/// is good against mistakes; whoever wants to can make another model of the same digest.
/// Complexity: one pass over the model.
inline std::string digest(const model_view& m, const run_options& options = {}) {
    struct part {
        const named_tensor* tensor;
        std::size_t index;
    };
    std::vector<const named_tensor*> tensors;
    for (const named_tensor& t : m.tensors()) tensors.push_back(&t);
    std::ranges::sort(tensors, {}, [](const named_tensor* t) -> const std::string& { return t->name; });
    std::string text;
    std::vector<part> parts;
    for (const named_tensor* t : tensors) {
        text += detail::in_quotes(t->name) + " " + std::string(name(t->view.type())) + " " + to_string(t->view.shape())
                + "\n";
        const std::size_t count = (t->view.size_bytes() + detail::digested_bytes - 1) / detail::digested_bytes;
        for (std::size_t i = 0; i < count; ++i) parts.push_back({t, i});
    }
    std::vector<std::uint64_t> hashes(parts.size() + 1);
    hashes.back() = detail::xxh64(text);
    parallel_for(parts.size(), detail::checked_threads(options),
                 [&](std::size_t i) { hashes[i] = detail::digest_of_part(parts[i].tensor->view, parts[i].index); });
    return "xxh64:" + detail::hexadecimal(detail::xxh64(std::as_bytes(std::span(hashes))));
}

} // namespace plait
