#include <plait/spec/axis_pattern.hpp>
#include <plait/spec/name_pattern.hpp>
#include <plait/spec/permutation_spec.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using namespace plait;

namespace {

// "axis: factors", a number as itself, "_" as "_", a group as its name
std::string read_as(std::string_view pattern) {
    std::string text;
    for (const auto& axis : detail::axes_of(pattern)) {
        text += '|';
        for (const auto& f : axis) {
            if (f.what == detail::axis_factor::kind::any) text += "_ ";
            else if (f.what == detail::axis_factor::kind::number) text += std::to_string(f.extent) + ' ';
            else text += std::string(f.group) + ' ';
        }
    }
    return text;
}

std::string fault_of_pattern(const std::string& text) {
    return fault_of<spec_error>([&] { axis_pattern::runtime(text); });
}

} // namespace

TEST_CASE("a pattern is read as its axes and their factors") {
    CHECK(read_as("h1 _") == "|h1 |_ ");
    CHECK(read_as("c2 c1 _ _") == "|c2 |c1 |_ |_ ");
    CHECK(read_as("out (c2 _)") == "|out |c2 _ ");
    CHECK(read_as("(3 head _) resid") == "|3 head _ |resid ");
    CHECK(read_as("  ( 3\thead _ )\tresid  ") == "|3 head _ |resid ");
    CHECK(read_as("(a)(b)") == "|a |b ");
    CHECK(read_as("ffn.{l}-x_1") == "|ffn.{l}-x_1 ");
    CHECK(read_as("12") == "|12 ");
    CHECK(read_as("").empty());
    CHECK(axis_pattern("h1 _").text() == "h1 _");
    CHECK(axis_pattern::runtime("").text().empty());
}

TEST_CASE("a malformed pattern is refused with one sentence and the pattern") {
    for (const auto& [pattern, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"h1 + _", "needs names, numbers, underscores or parentheses"},
             {"h1, _", "needs names, numbers, underscores or parentheses"},
             {"(h1 _", "has an unclosed parenthesis"},
             {"(", "has an unclosed parenthesis"},
             {"h1 _)", "closes a parenthesis that it never opened"},
             {"(a (b _))", "has parentheses inside parentheses"},
             {"h1 ()", "has empty parentheses"},
             {"(_ h1 _)", "has two underscores in one product"},
             {"(0 h1)", "has a number that is zero or too large"},
             {"99999999999999999999999999 _", "has a number that is zero or too large"},
             {"3x _", "has a name that does not start with a letter"},
             {"_x", "has a name that does not start with a letter"},
             {".a", "has a name that does not start with a letter"},
             {"ffn.{} _", "has a malformed capture"},
             {"ffn.{l _", "has a malformed capture"},
             {"ffn.l} _", "has a malformed capture"},
             {"ffn.{a.b} _", "has a malformed capture"},
             {"[a | b] _", "segments of an axis are not supported yet"},
             {"a | b", "segments of an axis are not supported yet"},
             {"(head dim@head) resid", "nested groups of an axis are not supported yet"}}) {
        INFO(pattern);
        CHECK(says(fault_of_pattern(pattern), sentence));
        CHECK(says(fault_of_pattern(pattern), "\"" + pattern + "\""));
    }
}

TEST_CASE("each product may hold an underscore of its own") {
    CHECK(fault_of_pattern("(a _) (_ b) _ _").empty());
    CHECK(fault_of_pattern("(3 4 a b _)").empty());
}

TEST_CASE("globs match whole names") {
    STATIC_REQUIRE(matches_glob("*.position_ids", "bert.position_ids"));
    for (const auto& [glob, text, expected] :
         std::vector<std::tuple<std::string, std::string, bool>>{{"a", "a", true},       {"a", "ab", false},
                                                                 {"a*", "a", true},      {"*", "", true},
                                                                 {"?", "", false},       {"a?c", "abc", true},
                                                                 {"a?c", "ac", false},   {"*a*b", "xaxbxb", true},
                                                                 {"*a*b", "xaxbx", false}, {"**", "abc", true},
                                                                 {"*.b.*", "a.b.c", true}, {"*.b.*", "a.bb.c", false},
                                                                 {"", "", true},         {"", "a", false}}) {
        INFO(glob << " on " << text);
        CHECK(matches_glob(glob, text) == expected);
    }
}

TEST_CASE("captures take text without dots, equal text for equal keys") {
    const auto captured = [](std::string_view pattern, std::string_view name) {
        const auto found = detail::match_name(pattern, name);
        if (!found) return std::string("no");
        std::string text;
        for (const auto& [key, value] : *found) text += std::string(key) + "=" + std::string(value) + " ";
        return text;
    };
    CHECK(captured("layers.{l}.w", "layers.12.w") == "l=12 ");
    CHECK(captured("layers.{l}.w", "layers.1.2.w") == "no");
    CHECK(captured("layers.{l}.w", "layers..w") == "no");
    CHECK(captured("layers.{l}.w", "layers.1.ww") == "no");
    CHECK(captured("{a}_{b}", "x_y_z") == "a=x b=y_z ");
    CHECK(captured("{a}.{a}", "x.x") == "a=x ");
    CHECK(captured("{a}.{a}", "x.y") == "no");
    CHECK(captured("{a}{b}", "xyz") == "a=x b=yz ");
    CHECK(captured("{l}", "") == "no");
    CHECK(captured("w", "w").empty());
    CHECK(detail::substitute("ffn.{l}.{k}", {{"k", "7"}, {"l", "12"}}) == "ffn.12.7");
}

TEST_CASE("natural order compares runs of digits as numbers and is a strict order") {
    using detail::natural_less;
    CHECK(natural_less("layer.2", "layer.10"));
    CHECK(natural_less("layer.2.w", "layer.10.a"));
    CHECK(natural_less("a", "a.1"));
    CHECK(natural_less("a9", "b1"));
    CHECK(natural_less("x99999999999999999999998", "x99999999999999999999999"));
    const std::array<std::string_view, 12> names{"",     "a",   "a.",   "a.0", "a.00", "a.1",
                                                 "a.01", "a.2", "a.10", "a.x", "b",    "a.1b"};
    for (const auto a : names) {
        CHECK_FALSE(natural_less(a, a));
        for (const auto b : names) {
            if (a != b) CHECK(natural_less(a, b) != natural_less(b, a));
            for (const auto c : names)
                if (natural_less(a, b) && natural_less(b, c)) CHECK(natural_less(a, c));
        }
    }
}

TEST_CASE("a table of rules is judged at compile time") {
    constexpr std::array good{axis_rule{"layers.{l}.up.weight", "ffn.{l} resid"}, axis_rule{"a", "(kv 4 _) resid"}};
    STATIC_REQUIRE(well_formed(good));
    constexpr std::array twice{axis_rule{"a", "h _"}, axis_rule{"a", "h"}};
    STATIC_REQUIRE_FALSE(well_formed(twice));
    constexpr std::array uncaptured{axis_rule{"layers.0.up", "ffn.{l}"}};
    STATIC_REQUIRE_FALSE(well_formed(uncaptured));
    constexpr std::array nameless{axis_rule{"", "h"}};
    STATIC_REQUIRE_FALSE(well_formed(nameless));
    constexpr std::array unclosed{axis_rule{"layers.{l", "h"}};
    STATIC_REQUIRE_FALSE(well_formed(unclosed));
    CHECK(permutation_spec(good).tensor_rules().size() == 2);
    CHECK_THROWS_AS(permutation_spec(twice), spec_error);
}

TEST_CASE("rules that contradict each other are refused when they are added") {
    permutation_spec spec;
    spec.tensor("a", "h _").fixed("*.ids").units("h", activation::relu).size("h", 4);
    const auto fault = [](auto f) { return fault_of<spec_error>(f); };
    CHECK(says(fault([&] { spec.tensor("a", "h"); }), "tensor \"a\": two rules for one tensor name"));
    CHECK(says(fault([&] { spec.tensor("", "h"); }), "empty tensor name"));
    CHECK(says(fault([&] { spec.tensor("x.{l", "h"); }), "malformed capture: \"x.{l\""));
    CHECK(says(fault([&] { spec.tensor("x.{e:g}", "h"); }), "captures that name a group are not supported yet"));
    CHECK(says(fault([&] { spec.tensor("x.1", "ffn.{l} _"); }), "use a capture that the tensor's name does not have"));
    CHECK(says(fault([&] { spec.fixed(""); }), "empty glob"));
    CHECK(says(fault([&] { spec.fixed("*.ids"); }), "two fixed rules are \"*.ids\""));
    CHECK(says(fault([&] { spec.units("h", activation::tanh); }), "two units rules for group \"h\""));
    CHECK(says(fault([&] { spec.units("h h", activation::tanh); }), "names the group \"h h\""));
    CHECK(says(fault([&] { spec.units("", activation::tanh); }), "names the group \"\""));
    CHECK(says(fault([&] { spec.size("h", 4); }), "two size rules for group \"h\""));
    CHECK(says(fault([&] { spec.size("k", 0); }), "group \"k\" has size 0"));
    CHECK(spec.tensor_rules().size() == 1);
    CHECK(spec.fixed_rules().size() == 1);
    CHECK(spec.units_rules().size() == 1);
    CHECK(spec.size_rules().size() == 1);
}

TEST_CASE("a spec grows by statements as by one expression") {
    auto chained = permutation_spec{}.tensor("a", "h _").units("h", activation::relu).fixed("x").size("h", 2);
    permutation_spec stated;
    stated.tensor("a", "h _");
    {
        const std::string text = "_ h"; // the spec keeps its own copy
        stated.tensor("b", axis_pattern::runtime(text));
    }
    stated.fixed("x").size("h", 2);
    CHECK(stated.tensor_rules()[1].axes == "_ h");
    CHECK(chained.tensor_rules()[0].name == stated.tensor_rules()[0].name);
    CHECK(chained.size_rules()[0].size == 2);
}

TEST_CASE("captures that touch are refused: they match in too many ways") {
    CHECK_THROWS_AS(permutation_spec{}.tensor("{a}{b}.weight", "h _"), spec_error);
    CHECK_NOTHROW(permutation_spec{}.tensor("{a}_{b}.weight", "h _"));
}
