#pragma once

#include <plait/model/digest.hpp>
#include <plait/model/model_view.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace plait {
namespace detail {

/// The name of a type without plait's namespaces.
template <class T>
std::string type_name() {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    text = text.substr(0, text.find_first_of(";]"));
    std::string name(text);
    for (const std::string_view scope : {"plait::", "detail::"})
        for (std::size_t at = name.find(scope); at != name.npos; at = name.find(scope)) name.erase(at, scope.size());
    return name;
}

struct any_field {
    template <class T>
    operator T() const; // never called: stands for a value in initialisers
};

template <class T, std::size_t... I>
constexpr bool is_made_of(std::index_sequence<I...>) {
    return requires { T{(static_cast<void>(I), any_field{})...}; };
}

/// Members of an aggregate without bases, at most 9.
template <class T, std::size_t N = 9>
constexpr std::size_t field_count() {
    if constexpr (is_made_of<T>(std::make_index_sequence<N>()) || N == 0)
        return N;
    else
        return field_count<T, N - 1>();
}

template <class T>
auto fields_of(const T& x) {
    constexpr std::size_t n = field_count<T>();
    if constexpr (n == 0) {
        return std::tuple<>();
    } else if constexpr (n == 1) {
        const auto& [a] = x;
        return std::tie(a);
    } else if constexpr (n == 2) {
        const auto& [a, b] = x;
        return std::tie(a, b);
    } else if constexpr (n == 3) {
        const auto& [a, b, c] = x;
        return std::tie(a, b, c);
    } else if constexpr (n == 4) {
        const auto& [a, b, c, d] = x;
        return std::tie(a, b, c, d);
    } else if constexpr (n == 5) {
        const auto& [a, b, c, d, e] = x;
        return std::tie(a, b, c, d, e);
    } else if constexpr (n == 6) {
        const auto& [a, b, c, d, e, f] = x;
        return std::tie(a, b, c, d, e, f);
    } else if constexpr (n == 7) {
        const auto& [a, b, c, d, e, f, g] = x;
        return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (n == 8) {
        const auto& [a, b, c, d, e, f, g, h] = x;
        return std::tie(a, b, c, d, e, f, g, h);
    } else {
        const auto& [a, b, c, d, e, f, g, h, i] = x;
        return std::tie(a, b, c, d, e, f, g, h, i);
    }
}

} // namespace detail

/// What a method, or a part of a policy, is made of, as text: its type and its options in their order. Equal texts mean
/// equal settings, but for parts that only their owner can tell apart, such as functions: they end with "?".
///     describe(ties{.density = .2})    // ties{0.2, [], 1, 1, 0, ...}
template <class T>
std::string describe(const T& x) {
    if constexpr (requires { x.describe(); }) {
        return x.describe();
    } else if constexpr (std::same_as<T, bool>) {
        return x ? "true" : "false";
    } else if constexpr (std::is_enum_v<T>) {
        return describe(static_cast<std::underlying_type_t<T>>(x));
    } else if constexpr (std::is_arithmetic_v<T>) {
        std::array<char, 32> text;
        const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
        return {text.data(), end};
    } else if constexpr (std::convertible_to<T, std::string_view>) {
        return detail::in_quotes(std::string_view(x));
    } else if constexpr (std::same_as<T, model_view>) {
        return digest(x);
    } else if constexpr (requires { x.has_value() && (*x, true); }) {
        return x ? describe(*x) : "none";
    } else if constexpr (std::ranges::input_range<const T>) {
        std::string text = "[";
        for (const auto& element : x) text += (text.size() > 1 ? ", " : "") + describe(element);
        return text + "]";
    } else if constexpr (requires { x == nullptr; }) {
        return x == nullptr ? "none" : detail::type_name<T>() + "?";
    } else if constexpr (std::is_empty_v<T>) {
        return detail::type_name<T>() + "{}";
    } else if constexpr (std::is_aggregate_v<T>) {
        std::string text;
        std::apply([&](const auto&... field) { ((text += (text.empty() ? "" : ", ") + describe(field)), ...); },
                   detail::fields_of(x));
        return detail::type_name<T>() + "{" + text + "}";
    } else {
        return detail::type_name<T>() + "?";
    }
}

} // namespace plait
