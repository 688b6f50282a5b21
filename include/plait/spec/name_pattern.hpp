#pragma once

#include <plait/core/error.hpp>
#include <plait/core/glob.hpp>
#include <plait/spec/axis_pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// What the captures of a name pattern stand for: {"l", "12"}.
using captures = std::vector<std::pair<std::string_view, std::string_view>>;

inline const std::string_view* find_capture(const captures& found, std::string_view key) {
    const auto it = std::ranges::find(found, key, &captures::value_type::first);
    return it == found.end() ? nullptr : &it->second;
}

// Matches from the left; a capture takes one or more characters other than ".", the shortest that fit.
inline bool match_name(std::string_view pattern, std::string_view name, captures& found) {
    const std::size_t open = pattern.find('{');
    if (open == std::string_view::npos) return pattern == name;
    if (name.substr(0, open) != pattern.substr(0, open)) return false;
    name.remove_prefix(open);
    const std::size_t close = pattern.find('}', open);
    const std::string_view key = pattern.substr(open + 1, close - open - 1);
    const std::string_view rest = pattern.substr(close + 1);

    if (const std::string_view* value = find_capture(found, key))
        return name.starts_with(*value) && match_name(rest, name.substr(value->size()), found);
    const std::size_t longest = std::min(name.find('.'), name.size());
    for (std::size_t length = 1; length <= longest; ++length) {
        found.emplace_back(key, name.substr(0, length));
        const std::size_t depth = found.size();
        if (match_name(rest, name.substr(length), found)) return true;
        found.resize(depth - 1);
    }
    return false;
}

/// The captures of `name` under a pattern such as "layers.{l}.weight"; nothing when it does not match.
inline std::optional<captures> match_name(std::string_view pattern, std::string_view name) {
    captures found;
    if (!match_name(pattern, name, found)) return std::nullopt;
    return found;
}

/// "ffn.{l}" with {l} = 12 is "ffn.12". Every capture of the text must be among `found`.
inline std::string substitute(std::string_view text, const captures& found) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '{') {
            result += text[i];
            continue;
        }
        const std::size_t close = text.find('}', i);
        result += *find_capture(found, text.substr(i + 1, close - i - 1));
        i = close;
    }
    return result;
}

/// Orders "layer.2" before "layer.10": runs of digits compare as numbers.
inline bool natural_less(std::string_view a, std::string_view b) {
    const auto number = [](std::string_view s) {
        std::size_t end = 0;
        while (end < s.size() && is_digit(s[end])) ++end;
        return s.substr(0, end);
    };
    const std::string_view all_a = a;
    const std::string_view all_b = b;
    while (!a.empty() && !b.empty()) {
        if (is_digit(a[0]) && is_digit(b[0])) {
            std::string_view x = number(a);
            std::string_view y = number(b);
            a.remove_prefix(x.size());
            b.remove_prefix(y.size());
            x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
            y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
            if (x.size() != y.size()) return x.size() < y.size();
            if (x != y) return x < y;
        } else {
            if (a[0] != b[0]) return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    if (a.empty() != b.empty()) return a.empty();
    return all_a < all_b;
}

} // namespace detail
} // namespace plait
