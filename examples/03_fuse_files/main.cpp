// Fuses checkpoints on disk:
//   fuse_files --spec FILE --out OUT A.safetensors B.safetensors [...] [--weights w1,w2,...] [--balance] [--restarts K]
//             [--threads T] [--take-integers]
#include <plait/io/io.hpp>
#include <plait/plait.hpp>

#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* usage =
    "usage: fuse_files --spec FILE --out OUT A.safetensors B.safetensors [...]\n"
    "                  [--weights w1,w2,...] [--balance] [--restarts K] [--threads T] [--take-integers]\n"
    "Every option and its value are words of their own. --take-integers takes tensors that are not floating point\n"
    "from the first file when they differ.";

struct arguments {
    std::string spec;
    std::string out;
    std::vector<std::string> inputs;
    std::vector<double> weights;
    bool balance = false;
    int restarts = 0;
    int threads = 1;
    plait::integer_policy integers = plait::integer_policy::must_be_equal;
};

template <class Number>
Number number(std::string_view option, std::string_view text) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc{} || end != text.data() + text.size())
        throw std::invalid_argument(std::string(option) + " is \"" + std::string(text) + "\", expected a number");
    return value;
}

std::vector<double> numbers(std::string_view option, std::string_view text) {
    std::vector<double> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        values.push_back(number<double>(option, text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return values;
}

arguments parse(const std::vector<std::string_view>& words) {
    arguments a;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const auto value = [&] {
            if (++i == words.size()) throw std::invalid_argument(std::string(word) + " needs a value");
            return words[i];
        };
        if (word == "--spec") a.spec = value();
        else if (word == "--out") a.out = value();
        else if (word == "--weights") a.weights = numbers(word, value());
        else if (word == "--balance") a.balance = true;
        else if (word == "--restarts") a.restarts = number<int>(word, value());
        else if (word == "--threads") a.threads = number<int>(word, value());
        else if (word == "--take-integers") a.integers = plait::integer_policy::take_first;
        else if (word.starts_with("--")) throw std::invalid_argument("there is no option " + std::string(word));
        else a.inputs.emplace_back(word);
    }
    if (a.spec.empty()) throw std::invalid_argument("--spec is missing");
    if (a.out.empty()) throw std::invalid_argument("--out is missing");
    if (a.inputs.size() < 2)
        throw std::invalid_argument(std::to_string(a.inputs.size()) + " input files, expected two or more");
    return a;
}

void print(const plait::fusion_report& report, const std::vector<std::string>& inputs) {
    std::printf("%-28s %-16s %7s %7s %12s %12s\n", "model", "group", "units", "moved", "before", "after");
    for (std::size_t k = 1; k < inputs.size(); ++k) {
        const plait::model_report& m = report.models[k];
        const std::string name = std::filesystem::path(inputs[k]).filename().string();
        for (const plait::group_report& g : m.groups)
            std::printf("%-28s %-16s %7zu %7zu %12.4f %12.4f\n", name.c_str(), g.group.c_str(), g.size, g.moved,
                        g.objective_before, g.objective_after);
        std::printf("%-28s %-16s %7s %7s %12.4f %12.4f   %d sweeps%s from the %s start\n", name.c_str(), "all", "", "",
                    m.objective_before, m.objective_after, m.sweeps, m.converged ? "" : ", not converged,",
                    m.start.c_str());
    }
    std::printf("%zu tensors merged, %zu copied\n", report.merged, report.copied.size());
}

void run(const arguments& a) {
    const auto spec = plait::load_spec(a.spec);
    std::vector<plait::io::safetensors_file> models;
    for (const std::string& path : a.inputs) models.push_back(plait::io::open(path));
    auto out = plait::io::create(a.out, {.metadata = models[0].metadata()});
    const auto policy = plait::weight_matching{spec, {.restarts = a.restarts, .balance = a.balance}} |
                        plait::average{.weights = a.weights, .integers = a.integers};
    print(plait::fuse_into(out, models, policy, {.threads = a.threads}), a.inputs);
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> words(argv + 1, argv + argc);
    if (words.empty() || words[0] == "--help" || words[0] == "-h") return std::puts(usage) < 0;
    try {
        run(parse(words));
    } catch (const std::invalid_argument& e) {
        std::fprintf(stderr, "fuse_files: %s; --help shows the options\n", e.what());
        return 2;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "fuse_files: %s\n", e.what());
        return 1;
    }
}
