// Runs merge cases of a JSON file against plait: prints a line per case, and exits with 1 when one fails.
// usage: merge_reference_cases CASES [DIFFERENCES]
// DIFFERENCES lists cases whose reference result plait deliberately does not reproduce, each with the reason and the
// result that is expected instead.
#include <plait/plait.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using json = nlohmann::json;
using namespace plait;

double number(const json& j) {
    if (j.is_string()) return j == "nan" ? NAN : j == "inf" ? INFINITY : -INFINITY;
    return j.get<double>();
}

void flatten(const json& data, std::vector<double>& out) {
    if (data.is_array())
        for (const json& part : data) flatten(part, out);
    else
        out.push_back(number(data));
}

std::vector<double> numbers(const json& tensor) {
    std::vector<double> result;
    flatten(tensor.at("data"), result);
    return result;
}

dtype type_of(const std::string& name) {
    static const std::map<std::string, dtype> types{
        {"float64", dtype::f64}, {"float32", dtype::f32}, {"float16", dtype::f16}, {"bfloat16", dtype::bf16}};
    return types.at(name);
}

const std::string tensor_name = "w";

model model_of(const json& tensor) {
    model m;
    const auto sizes = tensor.at("shape").get<std::vector<std::size_t>>();
    const auto view = m.add(tensor_name, type_of(tensor.at("dtype")), shape(sizes));
    const std::vector<double> data = numbers(tensor);
    visit_floating(view.type(), [&]<class T>(T) {
        for (std::size_t i = 0; i < data.size(); ++i) {
            const auto x = static_cast<T>(data[i]);
            std::memcpy(view.bytes() + i * sizeof(T), &x, sizeof(T));
        }
    });
    return m;
}

std::vector<double> numbers_of(const model& m) {
    const auto& view = m.at(tensor_name);
    std::vector<double> result(view.size());
    gathered_view(view).read(0, result.size(), result.data());
    return result;
}

/// The inputs and parameters of a case, as policies want them.
struct test_case {
    std::vector<model> models; // without the base
    std::optional<model> base;
    std::vector<json> own; // parameters per model
    json global;
    std::vector<std::vector<double>> masks;

    explicit test_case(const json& c) {
        const json& params = c.at("params");
        global = params.value("global", json::object());
        const json per_model = params.value("per_model", json::object());
        for (const json& m : c.at("inputs").at("models")) {
            if (m.value("is_base", false)) {
                base = model_of(m);
            } else {
                models.push_back(model_of(m));
                own.push_back(per_model.value(m.at("name").get<std::string>(), json::object()));
            }
        }
        if (c.at("inputs").contains("keep_masks"))
            for (const json& mask : c.at("inputs").at("keep_masks")) {
                masks.emplace_back();
                flatten(mask, masks.back());
            }
    }

    // A parameter of all models together: the global one, or the first model's.
    double get(const char* name, double otherwise) const {
        if (global.contains(name) && !global[name].is_boolean()) return number(global[name]);
        for (const json& o : own)
            if (o.contains(name)) return number(o[name]);
        return otherwise;
    }
    bool flag(const char* name, bool otherwise) const { return global.value(name, otherwise); }
    std::vector<double> weights() const {
        std::vector<double> result;
        for (const json& o : own) result.push_back(o.contains("weight") ? number(o["weight"]) : 1);
        return result;
    }
    std::vector<model> all() const { // the base as one of the models, first
        std::vector<model> result;
        if (base) result.push_back(*base);
        for (const model& m : models) result.push_back(m);
        return result;
    }
    task_vectors vectors() const {
        if (!base) throw option_error("the case has no base, expected one");
        return task_vectors{*base};
    }
    auto keep_mask() const {
        return masks.empty()
                   ? decltype(bernoulli::keep_mask){}
                   : [this](std::size_t k, std::string_view, std::size_t i) { return masks.at(k).at(i) != 0; };
    }
    rescaling rescale(bool otherwise) const { return flag("rescale", otherwise) ? rescaling::by_l1 : rescaling::none; }
    divisor divide_by(bool normalize) const { return flag("normalize", normalize) ? divisor::weights : divisor::one; }
};

using runner = std::function<model(const test_case&)>;

const std::map<std::string, runner>& runners() {
    static const std::map<std::string, runner> table{
        {"linear",
         [](const test_case& c) {
             return fuse(c.models, average{.weights = c.weights(), .normalize = c.flag("normalize", true)});
         }},
        {"slerp", [](const test_case& c) { return fuse(c.all(), slerp{.t = c.get("t", .5)}); }},
        {"nuslerp",
         [](const test_case& c) {
             const nuslerp method{.weights = c.weights()};
             if (c.base) return fuse(c.models, c.vectors() | method);
             return fuse(c.models, method);
         }},
        {"multislerp",
         [](const test_case& c) {
             const multislerp method{.weights = c.weights(), .normalize = c.flag("normalize_weights", true)};
             if (c.base) return fuse(c.models, c.vectors() | method);
             return fuse(c.models, method);
         }},
        {"karcher",
         [](const test_case& c) {
             return fuse(c.all(), karcher{.max_iterations = static_cast<std::size_t>(c.get("max_iter", 10)),
                                          .tolerance = c.get("tol", 1e-5)});
         }},
        {"task_arithmetic",
         [](const test_case& c) {
             return fuse(c.models, c.vectors()
                                       | task_arithmetic{.weights = c.weights(),
                                                         .lambda = c.get("lambda", 1),
                                                         .divide_by = c.divide_by(false)});
         }},
        {"ties",
         [](const test_case& c) {
             return fuse(c.models, c.vectors()
                                       | ties{.density = c.get("density", 1),
                                              .weights = c.weights(),
                                              .lambda = c.get("lambda", 1),
                                              .divide_by = c.divide_by(true),
                                              .rescale = c.rescale(false)});
         }},
        {"dare_linear",
         [](const test_case& c) {
             return fuse(c.models, c.vectors()
                                       | dare{.density = c.get("density", 1),
                                              .weights = c.weights(),
                                              .lambda = c.get("lambda", 1),
                                              .rescale = c.rescale(true),
                                              .keep_mask = c.keep_mask()});
         }},
        {"dare_ties",
         [](const test_case& c) {
             return fuse(c.models, c.vectors()
                                       | dare_ties{.density = c.get("density", 1),
                                                   .weights = c.weights(),
                                                   .lambda = c.get("lambda", 1),
                                                   .rescale = c.rescale(true),
                                                   .divide_by = c.divide_by(false),
                                                   .keep_mask = c.keep_mask()});
         }},
        {"breadcrumbs",
         [](const test_case& c) {
             return fuse(c.models, c.vectors()
                                       | breadcrumbs{.density = c.get("density", 1),
                                                     .gamma = c.get("gamma", 0.01),
                                                     .weights = c.weights(),
                                                     .lambda = c.get("lambda", 1),
                                                     .rescale = c.rescale(false)});
         }},
        {"breadcrumbs_ties",
         [](const test_case& c) {
             return fuse(c.models, c.vectors()
                                       | breadcrumbs_ties{.density = c.get("density", 1),
                                                          .gamma = c.get("gamma", 0.01),
                                                          .weights = c.weights(),
                                                          .lambda = c.get("lambda", 1),
                                                          .divide_by = c.divide_by(false),
                                                          .rescale = c.rescale(false)});
         }},
        {"model_stock", [](const test_case& c) { return fuse(c.models, c.vectors() | model_stock{}); }},
        {"nearswap", [](const test_case& c) { return fuse(c.models, c.vectors() | nearswap{.t = c.get("t", 0)}); }},
        {"passthrough", [](const test_case& c) { return fuse(c.all(), passthrough{.scale = c.get("scale", 1)}); }},
        {"ram",
         [](const test_case& c) { return fuse(c.models, c.vectors() | ram{.epsilon = c.get("epsilon", 1e-5)}); }},
    };
    return table;
}

/// How far an element may be from what is expected.
double tolerance_of(const std::string& rule, double expected, dtype type) {
    if (rule == "exact") return 0;
    if (rule.starts_with("2 ulp")) {
        const int digits = type == dtype::bf16 ? 8 : type == dtype::f16 ? 11 : type == dtype::f32 ? 24 : 53;
        return 2 * std::ldexp(1.0, std::ilogb(expected) + 1 - digits);
    }
    return 1e-6 + 1e-5 * std::abs(expected);
}

/// Empty when the result is what the case expects.
std::string difference(const std::vector<double>& found, const std::vector<double>& expected, const std::string& rule,
                       dtype type) {
    if (found.size() != expected.size())
        return std::to_string(found.size()) + " elements, expected " + std::to_string(expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
        if (std::abs(found[i] - expected[i]) <= tolerance_of(rule, expected[i], type)) continue;
        return "element " + std::to_string(i) + " is " + json(found[i]).dump() + ", expected "
               + json(expected[i]).dump();
    }
    return {};
}

std::string run_case(const json& c, const json* other) {
    const json& expected = other ? *other : c;
    try {
        const test_case t(c);
        const model result = runners().at(c.at("method"))(t);
        if (expected.contains("expected_error")) return "no error, expected one";
        const std::string rule = other ? "exact" : c.value("tol", "exact");
        const auto& view = result.at(tensor_name);
        if (expected.at("expected").contains("shape")
            && view.shape() != shape(expected.at("expected").at("shape").get<std::vector<std::size_t>>()))
            return "the shape is " + to_string(view.shape());
        return difference(numbers_of(result), numbers(expected.at("expected")), rule, view.type());
    } catch (const plait::error& e) {
        return expected.contains("expected_error") ? std::string() : std::string("error: ") + e.what();
    }
}

} // namespace

int main(int count, char** arguments) try {
    if (count != 2 && count != 3) {
        std::cerr << "usage: merge_reference_cases CASES [DIFFERENCES]\n";
        return 2;
    }
    const json cases = json::parse(std::ifstream(arguments[1])).at("cases");
    const json differences = count == 3 ? json::parse(std::ifstream(arguments[2])) : json::object();
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t deliberate = 0;
    std::map<std::string, std::size_t> left_out;
    for (const json& c : cases) {
        const std::string id = c.at("id");
        if (!runners().contains(c.at("method").get<std::string>())) {
            ++left_out[c.at("method")];
            continue;
        }
        const json* other = differences.contains(id) ? &differences[id] : nullptr;
        const std::string fault = run_case(c, other);
        ++(fault.empty() ? passed : failed);
        if (fault.empty() && other) ++deliberate;
        std::cout << (fault.empty() ? "pass " : "FAIL ") << id;
        if (!fault.empty()) std::cout << ": " << fault;
        if (other) std::cout << " (differs: " << other->at("because").get<std::string>() << ")";
        std::cout << '\n';
    }
    std::cout << passed << " passed, of these " << deliberate << " with a deliberate difference; " << failed
              << " failed\n";
    for (const auto& [method, n] : left_out) std::cout << "not run: " << method << " (" << n << ")\n";
    return failed > 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
}
