#include <plait/spec/spec_text.hpp>

#include "core/fault_of.hpp"
#include "spec/listing.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

using namespace plait;

namespace {

const char* const small_network = "# a small convolutional network\n"
                                  "conv1.weight   c1 _ _ _\n"
                                  "conv1.bias\tc1\t# on the channels\n"
                                  "\n"
                                  "   fc1.weight     h (c1 _)   \n"
                                  "tensor fc1.bias  h\n"
                                  "out.weight _ h\n"
                                  "units c1 h     relu\n"
                                  "size c1      6\n"
                                  "fixed *.num_batches_tracked out.bias\n";

permutation_spec literal() {
    return permutation_spec{}
        .tensor("conv1.weight", "c1 _ _ _").tensor("conv1.bias", "c1")
        .tensor("fc1.weight", "h (c1 _)").tensor("fc1.bias", "h")
        .tensor("out.weight", "_ h")
        .units("c1", activation::relu).units("h", activation::relu)
        .size("c1", 6).fixed("*.num_batches_tracked").fixed("out.bias");
}

std::string bound(const permutation_spec& spec) {
    return described(bind(spec, listing({{"conv1.weight", {6, 1, 3, 3}}, {"conv1.bias", {6}}, {"fc1.weight", {5, 24}},
                                         {"fc1.bias", {5}}, {"out.weight", {2, 5}}, {"out.bias", {2}},
                                         {"bn.num_batches_tracked", {}}})));
}

std::string fault_of_text(const std::string& text) {
    return fault_of<spec_error>([&] { parse_spec(text, "net.spec"); });
}

} // namespace

TEST_CASE("a spec as text and as literals bind equally") {
    CHECK(bound(parse_spec(small_network)) == bound(literal()));
}

TEST_CASE("line ends, a byte order mark and a missing last line end do not matter") {
    std::string text = small_network;
    text.pop_back();
    CHECK(bound(parse_spec(text)) == bound(literal()));
    std::string windows = "\xEF\xBB\xBF";
    for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
    CHECK(bound(parse_spec(windows)) == bound(literal()));
}

TEST_CASE("a mark is a comment only at the start of a word") {
    const auto spec = parse_spec("a#b h _ # h\nfixed c#d #e\n#\n");
    REQUIRE(spec.tensor_rules().size() == 1);
    CHECK(spec.tensor_rules()[0].name == "a#b");
    CHECK(spec.tensor_rules()[0].axes == "h _");
    CHECK(spec.fixed_rules() == std::vector<std::string>{"c#d"});
}

TEST_CASE("the keyword tensor names tensors that are called like a keyword") {
    const auto spec = parse_spec("tensor units h\ntensor fixed _ h\ntensor tensor _\ntensor size _");
    REQUIRE(spec.tensor_rules().size() == 4);
    CHECK(spec.tensor_rules()[0].name == "units");
    CHECK(spec.tensor_rules()[1].axes == "_ h");
    CHECK(spec.tensor_rules()[2].name == "tensor");
}

TEST_CASE("every activation has its word") {
    const auto spec = parse_spec("w a b c d\nunits a opaque\nunits b relu\nunits c tanh\nunits d linear");
    REQUIRE(spec.units_rules().size() == 4);
    CHECK(spec.units_rules()[0].activation == activation::opaque);
    CHECK(spec.units_rules()[1].activation == activation::relu);
    CHECK(spec.units_rules()[2].activation == activation::tanh);
    CHECK(spec.units_rules()[3].activation == activation::linear);
}

TEST_CASE("a fault in the text is told with file and line") {
    CHECK(says(fault_of_text("a h _\n\n# x\nb (h\n"), "net.spec, line 4: an axis pattern has an unclosed parenthesis"));
    CHECK(says(fault_of_text("a h _\r\na h\r\n"), "net.spec, line 2, tensor \"a\": two rules for one tensor name"));
    CHECK(says(fault_of_text("a"), "line 1, tensor \"a\": a tensor without axes, expected NAME AXES, or fixed NAME"));
    CHECK(says(fault_of_text("tensor a"), "tensor \"a\": a tensor without axes"));
    CHECK(says(fault_of_text("a # h"), "tensor without axes"));
    CHECK(says(fault_of_text("units h"), "a units rule is written units GROUP ... ACTIVATION"));
    CHECK(says(fault_of_text("a h\nunits h gelu"),
               "line 2: units end in \"gelu\", expected opaque, relu, tanh or linear"));
    CHECK(says(fault_of_text("fixed"), "a fixed rule is written fixed NAME ..."));
    CHECK(says(fault_of_text("size h"), "a size rule is written size GROUP NUMBER"));
    CHECK(says(fault_of_text("size h 3 4"), "a size rule is written size GROUP NUMBER"));
    for (const char* size : {"x", "0", "-1", "3x", "99999999999999999999999"})
        CHECK(says(fault_of_text("size h " + std::string(size)), "a group has size \"" + std::string(size) + "\""));
    CHECK(says(fault_of_text("a ffn.{l}"), "line 1, tensor \"a\": the axes \"ffn.{l}\" use a capture"));
}

TEST_CASE("a text without rules is refused") {
    for (const char* text : {"", "\n\n", "# nothing", "\xEF\xBB\xBF", "units h relu"})
        CHECK(says(fault_of_text(text), "net.spec: a spec without rules"));
}

TEST_CASE("a spec is loaded from a file, and a file that cannot be read is named") {
    const auto path = std::filesystem::temp_directory_path() / ("plait_spec_" + std::to_string(::getpid()));
    std::ofstream(path, std::ios::binary) << small_network;
    CHECK(bound(load_spec(path)) == bound(literal()));
    std::ofstream(path, std::ios::binary) << "a (";
    CHECK(says(fault_of<spec_error>([&] { load_spec(path); }), path.string() + ", line 1: "));
    std::filesystem::remove(path);
    CHECK(says(fault_of<io_error>([&] { load_spec(path); }), path.string() + ": cannot read the spec"));
    const auto folder = std::filesystem::temp_directory_path();
    CHECK(says(fault_of<io_error>([&] { load_spec(folder); }), "cannot read the spec"));
}
