#pragma once

#include <plait/spec/axis_pattern.hpp>
#include <plait/spec/name_pattern.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// What stands between the writers and the readers of a unit group. It decides which maps leave the function unchanged:
/// opaque - permutations; relu - also a positive scale per unit; tanh - also a sign; linear - also any scale but 0.
enum class activation : std::uint8_t { opaque, relu, tanh, linear };

/// A tensor name, in which {captures} may stand, and its axes; for constexpr tables of architectures.
struct axis_rule {
    std::string_view name;
    axis_pattern axes;
};

namespace detail {

constexpr std::string_view fault_of_name(std::string_view pattern) {
    if (pattern.empty()) return "a rule has an empty tensor name";
    const std::size_t open = pattern.find('{');
    if (open != std::string_view::npos && pattern.find(':', open) < pattern.find('}', open))
        return "captures that name a group are not supported yet";
    if (!has_well_formed_captures(pattern)) return "a tensor name has a malformed capture";
    if (pattern.find("}{") != std::string_view::npos) return "a tensor name has two captures with nothing between them";
    return {};
}

// Every "{key}" of a group must be captured by the tensor's name.
constexpr bool captures_occur(std::string_view axes, std::string_view name) {
    for (std::size_t i = axes.find('{'); i != std::string_view::npos; i = axes.find('{', i + 1)) {
        const std::string_view capture = axes.substr(i, axes.find('}', i) - i + 1);
        if (name.find(capture) == std::string_view::npos) return false;
    }
    return true;
}

} // namespace detail

/// Whether a table of rules is free of mistakes that do not depend on a checkpoint; for static_assert.
constexpr bool well_formed(std::span<const axis_rule> rules) {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (!detail::fault_of_name(rules[i].name).empty()) return false;
        if (!detail::captures_occur(rules[i].axes.text(), rules[i].name)) return false;
        for (std::size_t k = 0; k < i; ++k)
            if (rules[k].name == rules[i].name) return false;
    }
    return true;
}
template <std::size_t N>
constexpr bool well_formed(const std::array<axis_rule, N>& rules) {
    return well_formed(std::span<const axis_rule>(rules));
}

/// Which axes of which tensors share a permutation: the symmetries of an architecture, before any checkpoint is known.
///
///     auto spec = permutation_spec{}.tensor("fc1.weight", "h1 _").tensor("fc1.bias", "h1")
///                                   .tensor("out.weight", "_ h1").tensor("out.bias", "_")
///                                   .units("h1", activation::relu);
/// Rules that contradict each other throw spec_error when they are added.
class permutation_spec {
public:
    struct tensor_rule {
        std::string name;
        std::string axes;
    };
    struct units_rule {
        std::string group;
        plait::activation activation;
    };
    struct size_rule {
        std::string group;
        std::size_t size;
    };

    permutation_spec() = default;
    explicit permutation_spec(std::span<const axis_rule> rules) {
        for (const axis_rule& rule : rules) tensor(rule.name, rule.axes);
    }

    /// The axes of a tensor. In `name`, {key} captures one or more characters other than "."; a group may use it.
    permutation_spec& tensor(std::string_view name, axis_pattern axes) & {
        if (const auto fault = detail::fault_of_name(name); !fault.empty())
            throw spec_error(std::string(fault) + ": " + detail::in_quotes(name));
        if (!detail::captures_occur(axes.text(), name))
            throw spec_error("the axes " + detail::in_quotes(axes.text())
                                 + " use a capture that the tensor's name does not have",
                             {.tensor = std::string(name)});
        if (std::ranges::find(tensors_, name, &tensor_rule::name) != tensors_.end())
            throw spec_error("two rules for one tensor name, expected one", {.tensor = std::string(name)});
        tensors_.push_back({std::string(name), std::string(axes.text())});
        return *this;
    }

    /// Tensors that no permutation touches, as a glob: "*.position_ids".
    permutation_spec& fixed(std::string_view glob) & {
        if (glob.empty()) throw spec_error("a fixed rule has an empty glob, expected a tensor name or a glob");
        if (std::ranges::find(fixed_, glob) != fixed_.end())
            throw spec_error("two fixed rules are " + detail::in_quotes(glob) + ", expected one");
        fixed_.emplace_back(glob);
        return *this;
    }

    /// What stands between the writers and the readers of a group; {captures} stand for any text, as in names. A tensor
    /// writes the group on its axis 0, as [out, in] weights and biases do, and reads groups on its other axes.
    permutation_spec& units(std::string_view group, plait::activation between) & {
        check_group(group, units_, "units");
        units_.push_back({std::string(group), between});
        return *this;
    }

    /// The number of units of a group that no tensor gives away, for instance of heads in "(3 head _) resid".
    permutation_spec& size(std::string_view group, std::size_t n) & {
        check_group(group, sizes_, "size");
        if (n == 0) throw spec_error("group " + detail::in_quotes(group) + " has size 0, expected 1 or more");
        sizes_.push_back({std::string(group), n});
        return *this;
    }

    // clang-format off
    permutation_spec tensor(std::string_view name, axis_pattern axes) && { return std::move(tensor(name, axes)); }
    permutation_spec fixed(std::string_view glob) && { return std::move(fixed(glob)); }
    permutation_spec units(std::string_view group, activation between) && { return std::move(units(group, between)); }
    permutation_spec size(std::string_view group, std::size_t n) && { return std::move(size(group, n)); }
    // clang-format on

    const std::vector<tensor_rule>& tensor_rules() const { return tensors_; }
    const std::vector<std::string>& fixed_rules() const { return fixed_; }
    const std::vector<units_rule>& units_rules() const { return units_; }
    const std::vector<size_rule>& size_rules() const { return sizes_; }

private:
    template <class Rules>
    static void check_group(std::string_view group, const Rules& rules, const char* verb) {
        if (group.empty() || !std::ranges::all_of(group, detail::is_name_character)
            || !detail::has_well_formed_captures(group))
            throw spec_error(std::string(verb) + " names the group " + detail::in_quotes(group)
                             + ", expected letters, digits and well-formed captures");
        for (const auto& rule : rules)
            if (rule.group == group)
                throw spec_error("two " + std::string(verb) + " rules for group " + detail::in_quotes(group)
                                 + ", expected one");
    }

    std::vector<tensor_rule> tensors_;
    std::vector<std::string> fixed_;
    std::vector<units_rule> units_;
    std::vector<size_rule> sizes_;
};

} // namespace plait
