#pragma once

#include <plait/spec/permutation_spec.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// The words of a line; "#" at the start of a word begins a comment.
inline std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < line.size();) {
        if (is_blank(line[i]) || line[i] == '\r') {
            ++i;
            continue;
        }
        if (line[i] == '#') break;
        std::size_t end = i;
        while (end < line.size() && !is_blank(line[end]) && line[end] != '\r') ++end;
        words.push_back(line.substr(i, end - i));
        i = end;
    }
    return words;
}

inline activation activation_from_name(std::string_view name) {
    if (name == "opaque") return activation::opaque;
    if (name == "relu") return activation::relu;
    if (name == "tanh") return activation::tanh;
    if (name == "linear") return activation::linear;
    throw spec_error("units end in " + in_quotes(name) + ", expected opaque, relu, tanh or linear");
}

inline std::size_t size_from_text(std::string_view text) {
    axis_factor factor;
    if (!is_digit(text[0]) || parse_factor(text, factor) != axis_fault::none)
        throw spec_error("a group has size " + in_quotes(text) + ", expected a number from 1 on");
    return factor.extent;
}

inline void add_rule(permutation_spec& spec, std::string_view line, std::vector<std::string_view> words) {
    const std::string_view keyword = words[0];
    const auto expect = [&](bool ok, const char* form) {
        if (!ok) throw spec_error("a " + std::string(keyword) + " rule is written " + form);
    };
    if (keyword == "units") {
        expect(words.size() >= 3, "units GROUP ... ACTIVATION");
        const activation between = activation_from_name(words.back());
        for (std::size_t i = 1; i + 1 < words.size(); ++i) spec.units(words[i], between);
    } else if (keyword == "fixed") {
        expect(words.size() >= 2, "fixed NAME ...");
        for (std::size_t i = 1; i < words.size(); ++i) spec.fixed(words[i]);
    } else if (keyword == "size") {
        expect(words.size() == 3, "size GROUP NUMBER");
        spec.size(words[1], size_from_text(words[2]));
    } else {
        const std::size_t name = keyword == "tensor" ? 1 : 0;
        if (words.size() <= name + 1)
            throw spec_error("a tensor without axes, expected NAME AXES, or fixed NAME",
                             {.tensor = std::string(words.back())});
        const auto begin = static_cast<std::size_t>(words[name + 1].data() - line.data());
        const auto end = static_cast<std::size_t>(words.back().data() - line.data()) + words.back().size();
        spec.tensor(words[name], axis_pattern::runtime(line.substr(begin, end - begin)));
    }
}

} // namespace detail

/// Reads a spec from text, a rule per line:
///
///     # a small convolutional network
///     conv1.weight   c1 _ _ _
///     conv1.bias     c1
///     fc1.weight     h (c1 _)
///     units c1 h     relu
///     size head      12
///     fixed *.num_batches_tracked
/// "tensor NAME AXES" also names tensors that are called like a keyword. Throws spec_error with the line; `file` is
/// only for that message.
inline permutation_spec parse_spec(std::string_view text, const std::string& file = {}) {
    permutation_spec spec;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        auto words = detail::words_of(line);
        if (words.empty()) continue;
        try {
            detail::add_rule(spec, line, std::move(words));
        } catch (const spec_error& e) {
            location at = e.where();
            at.file = file;
            at.line = number;
            throw spec_error(e.fault(), std::move(at));
        }
    }
    if (spec.tensor_rules().empty() && spec.fixed_rules().empty())
        throw spec_error("a spec without rules, expected a line per tensor", {.file = file});
    return spec;
}

/// parse_spec of a file. Throws io_error when it cannot be read.
inline permutation_spec load_spec(const std::filesystem::path& path) {
    std::error_code fault;
    if (!std::filesystem::is_regular_file(path, fault))
        throw io_error("cannot read the spec: " + (fault ? fault.message() : std::string("it is not a file")),
                       {.file = path.string()});
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw io_error("cannot read the spec", {.file = path.string()});
    return parse_spec(text, path.string());
}

} // namespace plait
