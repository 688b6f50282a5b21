#include <plait/core/random.hpp>
#include <plait/spec/bind.hpp>

#include "core/fault_of.hpp"
#include "spec/listing.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace plait;

namespace {

using tensors = std::vector<std::pair<std::string, shape>>;

std::string fault_of_binding(const permutation_spec& spec, const tensors& listed, dtype type = dtype::f32) {
    return fault_of<spec_error>([&] { bind(spec, listing(listed, type)); });
}

std::vector<std::string> group_names(const bound_spec& spec) {
    std::vector<std::string> names;
    for (const auto& g : spec.groups()) names.push_back(g.name);
    return names;
}

} // namespace

TEST_CASE("binding gives every group its size and the factors that carry it") {
    const auto spec = permutation_spec{}
                          .tensor("fc1.weight", "h1 _").tensor("fc1.bias", "h1")
                          .tensor("fc2.weight", "h2 h1").tensor("fc2.bias", "h2")
                          .tensor("out.weight", "_ h2").tensor("out.bias", "_")
                          .units("h1", activation::relu).fixed("*.ids");
    const auto bound = bind(spec, listing({{"out.bias", {10}}, {"out.weight", {10, 4}}, {"fc2.bias", {4}},
                                           {"fc2.weight", {4, 3}}, {"fc1.bias", {3}}, {"fc1.weight", {3, 7}},
                                           {"pos.ids", {2, 2}}}));
    CHECK(described(bound) == "fc1.bias 0:3/h1\n"
                              "fc1.weight 0:3/h1 1:7\n"
                              "fc2.bias 0:4/h2\n"
                              "fc2.weight 0:4/h2 1:3/h1\n"
                              "out.bias 0:10\n"
                              "out.weight 0:10 1:4/h2\n"
                              "pos.ids 0:2 1:2\n"
                              "h1 3 1 fc1.bias.0 fc1.weight.0 fc2.weight.1\n"
                              "h2 4 0 fc2.bias.0 fc2.weight.0 out.weight.1\n");
    CHECK(bound.find_tensor("fc2.bias")->shape == shape{4});
    CHECK(bound.find_tensor("fc3.bias") == nullptr);
    CHECK(bound.group_index("h2") == 1);
    CHECK(says(fault_of<spec_error>([&] { bound.group_index("h3"); }), "no unit group \"h3\""));
}

TEST_CASE("the result does not depend on the order of the checkpoint") {
    const auto spec =
        permutation_spec{}.tensor("l.{l}.up", "ffn.{l} r").tensor("l.{l}.down", "r ffn.{l}").tensor("e", "_ r");
    tensors listed{{"e", {9, 5}}};
    for (int l = 0; l < 12; ++l) {
        listed.push_back({"l." + std::to_string(l) + ".up", {l + 1, 5}});
        listed.push_back({"l." + std::to_string(l) + ".down", {5, l + 1}});
    }
    const auto expected = described(bind(spec, listing(listed)));
    counter_random random(1);
    for (int round = 0; round < 10; ++round) {
        for (std::size_t i = listed.size(); i > 1; --i) std::swap(listed[i - 1], listed[random.below(i)]);
        CHECK(described(bind(spec, listing(listed))) == expected);
    }
}

TEST_CASE("groups come in the order of the rules, captures in natural order") {
    const auto spec = permutation_spec{}.tensor("z.{l}.w", "z.{l} a").tensor("y", "a _").tensor("z.{l}.b", "z.{l}");
    tensors listed{{"y", {2, 3}}};
    for (const char* l : {"10", "2", "1", "head"}) {
        listed.push_back({"z." + std::string(l) + ".w", {4, 2}});
        listed.push_back({"z." + std::string(l) + ".b", {4}});
    }
    CHECK(group_names(bind(spec, listing(listed))) == std::vector<std::string>{"z.1", "a", "z.2", "z.10", "z.head"});
}

TEST_CASE("products find the factor that is left, across tensors and in any order") {
    const auto flat = permutation_spec{}.tensor("conv", "c _ _ _").tensor("fc", "_ (c _)");
    CHECK(described(bind(flat, listing({{"conv", {6, 3, 5, 5}}, {"fc", {10, 24}}}))) ==
          "conv 0:6/c 1:3 2:5 3:5\nfc 0:10 1:6/c 1:4\nc 6 0 conv.0 fc.1\n");
    // kv follows from b, then head from a
    const auto chain = permutation_spec{}.tensor("a", "(kv head) _").tensor("b", "kv (head 2)");
    CHECK(described(bind(chain, listing({{"a", {12, 1}}, {"b", {3, 8}}}))) ==
          "a 0:3/kv 0:4/head 1:1\nb 0:3/kv 1:4/head 1:2\nkv 3 0 a.0 b.0\nhead 4 0 a.1 b.1\n");
}

TEST_CASE("a size that no tensor gives away is given") {
    const auto open = permutation_spec{}.tensor("qkv", "(3 head _) _").tensor("o", "_ (head _)");
    const tensors listed{{"qkv", {36, 4}}, {"o", {4, 12}}};
    CHECK(says(fault_of_binding(open, listed), "size of group \"head\" does not follow from any tensor"));
    auto sized = open;
    sized.size("head", 2);
    CHECK(described(bind(sized, listing(listed))) ==
          "o 0:4 1:2/head 1:6\nqkv 0:3 0:2/head 0:6 1:4\nhead 2 0 o.1 qkv.1\n");
    auto wrong = open;
    wrong.size("head", 5);
    const auto fault = fault_of_binding(wrong, listed);
    CHECK(says(fault, "tensor \"qkv\", axis 0: the axis has 36, expected a multiple of 15, the product of its known factors"));
    CHECK(says(fault, "tensor \"o\", axis 1: the axis has 12, expected a multiple of 5, the product of its known factors"));
}

TEST_CASE("sizes and units reach all groups of a capture") {
    const auto spec = permutation_spec{}
                          .tensor("l.{l}.a", "(head.{l} _) _").tensor("l.{l}.b", "_ (head.{l} _)")
                          .size("head.{l}", 2).units("head.{x}", activation::linear);
    const auto bound =
        bind(spec, listing({{"l.0.a", {6, 1}}, {"l.0.b", {1, 6}}, {"l.1.a", {4, 1}}, {"l.1.b", {1, 4}}}));
    REQUIRE(group_names(bound) == std::vector<std::string>{"head.0", "head.1"});
    for (const auto& g : bound.groups()) {
        CHECK(g.size == 2);
        CHECK(g.activation == activation::linear);
    }
}

TEST_CASE("a group may stand twice on one tensor") {
    const auto bound = bind(permutation_spec{}.tensor("w", "h h"), listing({{"w", {3, 3}}}));
    CHECK(described(bound) == "w 0:3/h 1:3/h\nh 3 0 w.0 w.1\n");
}

TEST_CASE("scalars and empty axes bind, a group of no units does not") {
    const auto spec = permutation_spec{}.tensor("scale", "").tensor("w", "h _").tensor("b", "h").fixed("f*");
    CHECK(described(bind(spec, listing({{"scale", {}}, {"w", {2, 0}}, {"b", {2}}, {"f", {0, 3}}, {"f2", {}}}))) ==
          "b 0:2/h\nf 0:0 1:3\nf2\nscale\nw 0:2/h 1:0\nh 2 0 b.0 w.0\n");
    CHECK(says(fault_of_binding(spec, {{"scale", {}}, {"w", {0, 4}}, {"b", {0}}}),
               "size of group \"h\" does not follow"));
    const auto clash = fault_of_binding(spec, {{"scale", {}}, {"w", {0, 4}}, {"b", {3}}});
    CHECK(says(clash, "tensor \"w\", axis 0: group \"h\" has 0 units here, but 3 at tensor \"b\", axis 0"));
    CHECK(
        says(fault_of_binding(permutation_spec{}.tensor("w", "(3 _) h").tensor("b", "h"), {{"w", {0, 2}}, {"b", {3}}}),
             "has 2 units here, but 3"));
}

TEST_CASE("every tensor has one rule, every rule a tensor") {
    const auto spec =
        permutation_spec{}.tensor("a", "_").tensor("gone", "_").tensor("b.{l}", "_").tensor("b.{k}x", "_").fixed("a*");
    const auto fault = fault_of_binding(spec, {{"a", {2}}, {"b.1", {2}}, {"b.1x", {2}}, {"new", {4, 5}}});
    CHECK(says(fault, "in 4 places"));
    CHECK(says(fault, "tensor \"a\": two rules match, \"a\" and \"fixed a*\""));
    CHECK(says(fault, "tensor \"b.1x\": two rules match, \"b.{l}\" and \"b.{k}x\""));
    CHECK(says(fault, "tensor \"gone\": the spec names it, but the checkpoint has no such tensor"));
    CHECK(says(fault, "tensor \"new\": no rule for this tensor of shape [4, 5]"));
}

TEST_CASE("two globs may match one fixed tensor, and a glob may match none") {
    CHECK_NOTHROW(bind(permutation_spec{}.fixed("*.ids").fixed("a.*").fixed("absent*"), listing({{"a.ids", {2}}})));
}

TEST_CASE("all faults are told at once") {
    const auto spec = permutation_spec{}
                          .tensor("alone", "single _")
                          .tensor("big", "h _")
                          .tensor("missing", "_")
                          .tensor("product", "(h 3) _")
                          .tensor("rank", "h _ _")
                          .tensor("small", "h")
                          .tensor("unsized1", "(a b)")
                          .tensor("unsized2", "(a b)")
                          .units("nobody", activation::relu)
                          .size("nothing", 3)
                          .units("h", activation::relu)
                          .units("{any}", activation::tanh);
    const auto fault = fault_of_binding(spec, {{"alone", {7, 1}}, {"big", {6, 2}}, {"extra", {1}}, {"product", {7, 2}},
                                               {"rank", {6, 2}}, {"small", {5}}, {"unsized1", {6}}, {"unsized2", {6}}});
    CHECK(says(fault, "tensor \"alone\", axis 0: group \"single\" of 7 units is on this axis alone"));
    CHECK(says(fault, "tensor \"extra\": no rule for this tensor of shape [1]"));
    CHECK(says(fault, "tensor \"missing\": the spec names it"));
    CHECK(says(fault, "tensor \"product\", axis 0: the axis has 7, expected a multiple of 18, the product of its known factors"));
    CHECK(says(fault, "tensor \"rank\": the axes \"h _ _\" are 3, the checkpoint has shape [6, 2] with 2"));
    CHECK(says(fault, "tensor \"small\", axis 0: group \"h\" has 5 units here, but 6 at tensor \"big\", axis 0"));
    CHECK(says(fault, "size of group \"a\" does not follow"));
    CHECK(says(fault, "size of group \"b\" does not follow"));
    CHECK(says(fault, "units of group \"nobody\" are given, but no tensor carries it"));
    CHECK(says(fault, "size of group \"nothing\" is given, but no tensor carries it"));
    CHECK(says(fault, "two units rules match group \"h\""));
}

TEST_CASE("a tensor with two faults has both told") {
    // axis 0 does not divide, axis 1 clashes with the size of the first group
    const auto product = permutation_spec{}.tensor("b", "h").tensor("w", "3 h");
    const auto both = fault_of_binding(product, {{"b", {6}}, {"w", {4, 5}}});
    CHECK(says(both, "tensor \"w\", axis 0: the axis has 4, expected a multiple of 3, the product of its known factors"));
    CHECK(says(both, "tensor \"w\", axis 1: group \"h\" has 5 units here, but 6"));
    // one group, wrong on both axes
    const auto square = permutation_spec{}.tensor("b", "h").tensor("w", "h h");
    const auto twice = fault_of_binding(square, {{"b", {6}}, {"w", {4, 5}}});
    CHECK(says(twice, "tensor \"w\", axis 0: group \"h\" has 4 units here, but 6"));
    CHECK(says(twice, "tensor \"w\", axis 1: group \"h\" has 5 units here, but 6"));
    // and none is told twice
    CHECK(says(twice, "in 2 places"));
}

TEST_CASE("two sizes for one group are a fault that names both") {
    const auto spec = permutation_spec{}
                          .tensor("l.{l}.a", "(h.{l} _)")
                          .tensor("l.{l}.b", "(h.{l} _)")
                          .size("h.{l}", 2)
                          .size("h.1", 3);
    CHECK(says(fault_of_binding(spec, {{"l.1.a", {6}}, {"l.1.b", {6}}}), "group \"h.1\" has 3 units here, but 2"));
}

TEST_CASE("elements of less than a byte cannot be permuted") {
    const auto spec = permutation_spec{}.tensor("a", "h _").tensor("b", "h _").fixed("c");
    CHECK(says(fault_of_binding(spec, {{"a", {2, 2}}, {"b", {2, 2}}, {"c", {2}}}, dtype::f4),
               "tensor \"a\": elements are F4, which cannot be permuted"));
    CHECK_NOTHROW(bind(permutation_spec{}.fixed("*"), listing({{"c", {2}}}, dtype::f4)));
}
