#pragma once

#include <plait/core/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// One factor of an axis: "_" (any extent), a number, or the name of a unit group.
struct axis_factor {
    enum class kind : std::uint8_t { any, number, group };
    kind what = kind::any;
    std::size_t extent = 0;      // of a number
    std::string_view group = {}; // of a group, captures not yet replaced
};

enum class axis_fault : std::uint8_t {
    none,
    unknown_character,
    unclosed_parenthesis,
    unopened_parenthesis,
    nested_parenthesis,
    empty_product,
    two_free_factors,
    bad_number,
    bad_name,
    bad_capture,
    segments,
    nested_group
};

inline constexpr std::array<std::string_view, 12> axis_fault_sentences{
    "",
    "an axis pattern needs names, numbers, underscores or parentheses",
    "an axis pattern has an unclosed parenthesis",
    "an axis pattern closes a parenthesis that it never opened",
    "an axis pattern has parentheses inside parentheses",
    "an axis pattern has empty parentheses",
    "an axis pattern has two underscores in one product",
    "an axis pattern has a number that is zero or too large",
    "an axis pattern has a name that does not start with a letter",
    "an axis pattern has a malformed capture",
    "segments of an axis are not supported yet",
    "nested groups of an axis are not supported yet"};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_name_character(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-' || c == '{' || c == '}';
}
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Every "{" opens a capture of letters, digits and underscores, and is closed.
constexpr bool has_well_formed_captures(std::string_view s) {
    bool open = false;
    std::size_t length = 0;
    for (char c : s) {
        if (c == '{') {
            if (open) return false;
            open = true;
            length = 0;
        } else if (c == '}') {
            if (!open || length == 0) return false;
            open = false;
        } else if (open) {
            if (!is_letter(c) && !is_digit(c) && c != '_') return false;
            ++length;
        }
    }
    return !open;
}

constexpr axis_fault parse_factor(std::string_view word, axis_factor& factor) {
    factor = {};
    if (word == "_") return axis_fault::none;
    if (is_digit(word[0])) {
        factor.what = axis_factor::kind::number;
        for (char c : word) {
            if (!is_digit(c)) return axis_fault::bad_name;
            if (factor.extent > (SIZE_MAX >> 8)) return axis_fault::bad_number;
            factor.extent = factor.extent * 10 + static_cast<std::size_t>(c - '0');
        }
        return factor.extent ? axis_fault::none : axis_fault::bad_number;
    }
    factor.what = axis_factor::kind::group;
    factor.group = word;
    if (!is_letter(word[0]) && word[0] != '{') return axis_fault::bad_name;
    return has_well_formed_captures(word) ? axis_fault::none : axis_fault::bad_capture;
}

/// Calls on_factor(axis, factor) for every factor, from the left. on_factor may see factors of a pattern that turns out
/// to be malformed further right.
template <class OnFactor>
constexpr axis_fault parse_axes(std::string_view s, OnFactor on_factor) {
    std::size_t axis = 0;
    std::size_t in_product = 0;
    bool open = false;
    bool has_free_factor = false;
    for (std::size_t i = 0; i < s.size();) {
        const char c = s[i];
        if (is_blank(c)) {
            ++i;
        } else if (c == '(') {
            if (open) return axis_fault::nested_parenthesis;
            open = true;
            has_free_factor = false;
            in_product = 0;
            ++i;
        } else if (c == ')') {
            if (!open) return axis_fault::unopened_parenthesis;
            if (in_product == 0) return axis_fault::empty_product;
            open = false;
            ++axis;
            ++i;
        } else if (c == '[' || c == ']' || c == '|') {
            return axis_fault::segments;
        } else {
            std::size_t end = i;
            while (end < s.size() && is_name_character(s[end])) ++end;
            if (end < s.size() && (s[end] == '@' || s[end] == ':')) return axis_fault::nested_group;
            if (end == i) return axis_fault::unknown_character;
            axis_factor factor;
            if (const auto fault = parse_factor(s.substr(i, end - i), factor); fault != axis_fault::none) return fault;
            if (open && factor.what == axis_factor::kind::any && std::exchange(has_free_factor, true))
                return axis_fault::two_free_factors;
            on_factor(axis, factor);
            if (open)
                ++in_product;
            else
                ++axis;
            i = end;
        }
    }
    return open ? axis_fault::unclosed_parenthesis : axis_fault::none;
}

// Not constexpr: reaching one of these at compile time makes the compiler print its name.
inline void an_axis_pattern_needs_names_numbers_underscores_or_parentheses() {}
inline void an_axis_pattern_has_an_unclosed_parenthesis() {}
inline void an_axis_pattern_closes_a_parenthesis_that_it_never_opened() {}
inline void an_axis_pattern_has_parentheses_inside_parentheses() {}
inline void an_axis_pattern_has_empty_parentheses() {}
inline void an_axis_pattern_has_two_underscores_in_one_product() {}
inline void an_axis_pattern_has_a_number_that_is_zero_or_too_large() {}
inline void an_axis_pattern_has_a_name_that_does_not_start_with_a_letter() {}
inline void an_axis_pattern_has_a_malformed_capture() {}
inline void segments_of_an_axis_are_not_supported_yet() {}
inline void nested_groups_of_an_axis_are_not_supported_yet() {}

constexpr void refuse_to_compile(axis_fault fault) {
    switch (fault) {
    case axis_fault::none:
        return;
    case axis_fault::unknown_character:
        return an_axis_pattern_needs_names_numbers_underscores_or_parentheses();
    case axis_fault::unclosed_parenthesis:
        return an_axis_pattern_has_an_unclosed_parenthesis();
    case axis_fault::unopened_parenthesis:
        return an_axis_pattern_closes_a_parenthesis_that_it_never_opened();
    case axis_fault::nested_parenthesis:
        return an_axis_pattern_has_parentheses_inside_parentheses();
    case axis_fault::empty_product:
        return an_axis_pattern_has_empty_parentheses();
    case axis_fault::two_free_factors:
        return an_axis_pattern_has_two_underscores_in_one_product();
    case axis_fault::bad_number:
        return an_axis_pattern_has_a_number_that_is_zero_or_too_large();
    case axis_fault::bad_name:
        return an_axis_pattern_has_a_name_that_does_not_start_with_a_letter();
    case axis_fault::bad_capture:
        return an_axis_pattern_has_a_malformed_capture();
    case axis_fault::segments:
        return segments_of_an_axis_are_not_supported_yet();
    case axis_fault::nested_group:
        return nested_groups_of_an_axis_are_not_supported_yet();
    }
}

} // namespace detail

/// The axes of one tensor in words, separated by spaces; a literal with a mistake does not compile.
///
///     "h1 _"              axis 0 carries unit group h1, axis 1 is fixed
///     "c2 c1 _ _"         a convolution kernel (out, in, kh, kw)
///     "out (c2 _)"        after flatten: axis 1 is row-major (channel, everything else)
///     "(3 head _) resid"  a number is a fixed factor of that size
///     "ffn.{l} resid"     {l} takes what the tensor's name captured
/// A product holds at most one "_". The empty pattern is a scalar.
class axis_pattern {
public:
    template <std::size_t N>
    consteval axis_pattern(const char (&literal)[N]) : text_(literal, N - 1) {
        detail::refuse_to_compile(detail::parse_axes(text_, [](std::size_t, const detail::axis_factor&) {}));
    }

    /// A pattern that is known at run time; it refers to the characters of `text`. Throws spec_error.
    static axis_pattern runtime(std::string_view text) {
        const auto fault = detail::parse_axes(text, [](std::size_t, const detail::axis_factor&) {});
        if (fault != detail::axis_fault::none)
            throw spec_error(std::string(detail::axis_fault_sentences[static_cast<std::size_t>(fault)]) + ": "
                             + detail::in_quotes(text));
        axis_pattern result;
        result.text_ = text;
        return result;
    }

    constexpr std::string_view text() const { return text_; }

private:
    constexpr axis_pattern() = default;
    std::string_view text_;
};

namespace detail {

/// The factors of each axis of a well-formed pattern; they refer to its characters.
inline std::vector<std::vector<axis_factor>> axes_of(std::string_view pattern) {
    std::vector<std::vector<axis_factor>> axes;
    parse_axes(pattern, [&](std::size_t axis, const axis_factor& factor) {
        axes.resize(axis + 1);
        axes.back().push_back(factor);
    });
    return axes;
}

} // namespace detail
} // namespace plait
