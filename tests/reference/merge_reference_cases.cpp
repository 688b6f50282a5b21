// Runs merge cases of a JSON file against plait: prints a line per case, and exits with 1 when one fails.
// usage: merge_reference_cases CASES [DIFFERENCES]
// DIFFERENCES lists cases whose reference result plait deliberately does not reproduce, each with the reason and the
// result that is expected instead.
#include <plait/plait.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
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
#include <stdexcept>
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

const std::string tensor_name = "w"; // where a case gives none

void add(model& m, const std::string& name, const json& tensor, std::size_t axes_off = 0, std::size_t row = 0) {
    auto sizes = tensor.at("shape").get<std::vector<std::size_t>>();
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(axes_off));
    const auto view = m.add(name, type_of(tensor.at("dtype")), shape(sizes));
    const std::vector<double> data = numbers(tensor);
    const std::size_t first = row * view.shape().size();
    visit_floating(view.type(), [&]<class T>(T) {
        for (std::size_t i = 0; i < view.shape().size(); ++i) {
            const auto x = static_cast<T>(data.at(first + i));
            std::memcpy(view.bytes() + i * sizeof(T), &x, sizeof(T));
        }
    });
}

model model_of(const json& tensor) {
    model m;
    add(m, tensor_name, tensor);
    return m;
}

/// One model per row of a tensor, or per entry of a list.
std::vector<model> models_of(const json& j) {
    std::vector<model> result;
    if (j.is_array()) {
        for (const json& entry : j) {
            if (entry.contains("data")) {
                result.push_back(model_of(entry));
            } else {
                result.emplace_back();
                for (const auto& [name, tensor] : entry.items()) add(result.back(), name, tensor);
            }
        }
        return result;
    }
    for (std::size_t row = 0; row < j.at("shape")[0].get<std::size_t>(); ++row) {
        result.emplace_back();
        add(result.back(), tensor_name, j, 1, row);
    }
    return result;
}

/// {"name": [tensor of model 0, of model 1, ...]}
std::vector<model> models_by_name(const json& j) {
    std::vector<model> result;
    for (const auto& [name, tensors] : j.items())
        for (std::size_t k = 0; k < tensors.size(); ++k) {
            if (result.size() <= k) result.emplace_back();
            add(result[k], name, tensors[k]);
        }
    return result;
}

/// A model of zeros like another: the base of task vectors that a case gives as they are.
model zeros_like(const model& m) {
    model zero;
    for (const auto& t : m.tensors()) {
        const auto view = zero.add(t.name, t.view.type(), t.view.shape());
        std::memset(view.bytes(), 0, view.size_bytes());
    }
    return zero;
}

std::vector<double> numbers_of(const model& m, const std::string& name) {
    const auto& view = m.at(name);
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
    bool is_compat;

    explicit test_case(const json& c, bool as_mergekit) : is_compat(as_mergekit) {
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
    /// What a method makes of the models; with mergekit's arithmetic where that is asked for.
    template <class Method>
    model merged(const std::vector<model>& of, const Method& method) const {
        return is_compat ? fuse(of, compat::mergekit(method)) : fuse(of, method);
    }
    template <class Method>
    model merged(const Method& method) const {
        return is_compat ? fuse(models, vectors() | compat::mergekit(method)) : fuse(models, vectors() | method);
    }
    auto keep_mask() const {
        return masks.empty()
                   ? decltype(bernoulli::keep_mask){}
                   : [this](std::size_t k, std::string_view, std::size_t i) { return masks.at(k).at(i) != 0; };
    }
    rescaling rescale(bool otherwise) const { return flag("rescale", otherwise) ? rescaling::by_l1 : rescaling::none; }
    divisor divide_by(bool normalize) const { return flag("normalize", normalize) ? divisor::weights : divisor::one; }
};

/// Merges task vectors that a case gives without a base.
template <class Method>
model merge_vectors(const json& vectors, const Method& method) {
    const std::vector<model> models = models_of(vectors);
    const model base = zeros_like(models.at(0));
    return fuse(models, task_vectors{base} | method);
}

model della_reference(const json& in, const json& p) {
    const std::vector<double> kept = numbers(in.at("keep_mask"));
    return merge_vectors(
        json::array({in.at("x")}),
        della_linear{.density = p.at("density"),
                     .epsilon = p.at("epsilon"),
                     .keep_mask = [&](std::size_t, std::string_view, std::size_t i) { return kept.at(i) != 0; }});
}

using runner = std::function<model(const test_case&)>;

const std::map<std::string, runner>& runners() {
    static const std::map<std::string, runner> table{
        {"linear",
         [](const test_case& c) {
             return c.merged(c.models, average{.weights = c.weights(), .normalize = c.flag("normalize", true)});
         }},
        {"slerp", [](const test_case& c) { return c.merged(c.all(), slerp{.t = c.get("t", .5)}); }},
        {"nuslerp",
         [](const test_case& c) {
             vector_scope scope = vector_scope::tensor; // what mergekit calls row-wise are columns
             if (!c.flag("nuslerp_flatten", true))
                 scope = c.flag("nuslerp_row_wise", false) ? vector_scope::columns : vector_scope::rows;
             const nuslerp method{.weights = c.weights(), .scope = scope};
             return c.base ? c.merged(method) : c.merged(c.models, method);
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
             return c.merged(task_arithmetic{
                 .weights = c.weights(), .lambda = c.get("lambda", 1), .divide_by = c.divide_by(false)});
         }},
        {"ties",
         [](const test_case& c) {
             return c.merged(ties{.density = c.get("density", 1),
                                  .weights = c.weights(),
                                  .lambda = c.get("lambda", 1),
                                  .divide_by = c.divide_by(true),
                                  .rescale = c.rescale(false)});
         }},
        {"dare_linear",
         [](const test_case& c) {
             return c.merged(dare{.density = c.get("density", 1),
                                  .weights = c.weights(),
                                  .lambda = c.get("lambda", 1),
                                  .rescale = c.rescale(true),
                                  .divide_by = c.divide_by(false),
                                  .keep_mask = c.keep_mask()});
         }},
        {"dare_ties",
         [](const test_case& c) {
             return c.merged(dare_ties{.density = c.get("density", 1),
                                       .weights = c.weights(),
                                       .lambda = c.get("lambda", 1),
                                       .rescale = c.rescale(true),
                                       .divide_by = c.divide_by(false),
                                       .keep_mask = c.keep_mask()});
         }},
        {"breadcrumbs",
         [](const test_case& c) {
             return c.merged(breadcrumbs{.density = c.get("density", 1),
                                         .gamma = c.get("gamma", 0.01),
                                         .weights = c.weights(),
                                         .lambda = c.get("lambda", 1),
                                         .divide_by = c.divide_by(false),
                                         .rescale = c.rescale(false)});
         }},
        {"breadcrumbs_ties",
         [](const test_case& c) {
             return c.merged(breadcrumbs_ties{.density = c.get("density", 1),
                                              .gamma = c.get("gamma", 0.01),
                                              .weights = c.weights(),
                                              .lambda = c.get("lambda", 1),
                                              .divide_by = c.divide_by(false),
                                              .rescale = c.rescale(false)});
         }},
        {"model_stock",
         [](const test_case& c) {
             const auto scope = c.flag("filter_wise", false) ? vector_scope::rows : vector_scope::tensor;
             return c.merged(model_stock{.scope = scope});
         }},
        {"della",
         [](const test_case& c) {
             return c.merged(della{.density = c.get("density", 1),
                                   .epsilon = c.get("epsilon", .15),
                                   .weights = c.weights(),
                                   .lambda = c.get("lambda", 1),
                                   .rescale = c.rescale(true),
                                   .divide_by = c.divide_by(true),
                                   .keep_mask = c.keep_mask()});
         }},
        {"della_linear",
         [](const test_case& c) {
             return c.merged(della_linear{.density = c.get("density", 1),
                                          .epsilon = c.get("epsilon", .15),
                                          .weights = c.weights(),
                                          .lambda = c.get("lambda", 1),
                                          .rescale = c.rescale(true),
                                          .divide_by = c.divide_by(false),
                                          .keep_mask = c.keep_mask()});
         }},
        {"sce",
         [](const test_case& c) { return fuse(c.models, c.vectors() | sce{.select_topk = c.get("select_topk", 1)}); }},
        {"arcee_fusion", [](const test_case& c) { return fuse(c.models, c.vectors() | arcee_fusion{}); }},
        {"ramplus_tl",
         [](const test_case& c) {
             return fuse(
                 c.models,
                 c.vectors()
                     | ramplus{.epsilon = c.get("epsilon", 1e-5), .r = c.get("r", .1), .alpha = c.get("alpha", .2)});
         }},
        {"nearswap", [](const test_case& c) { return fuse(c.models, c.vectors() | nearswap{.t = c.get("t", 0)}); }},
        {"passthrough", [](const test_case& c) { return fuse(c.all(), passthrough{.scale = c.get("scale", 1)}); }},
        {"ram",
         [](const test_case& c) { return fuse(c.models, c.vectors() | ram{.epsilon = c.get("epsilon", 1e-5)}); }},
    };
    return table;
}

/// Cases of other projects, whose inputs are laid out each in its own way.
const std::map<std::string, std::function<model(const json& inputs, const json& params)>>& other_runners() {
    static const std::map<std::string, std::function<model(const json&, const json&)>> table{
        {"magmax",
         [](const json& in, const json&) { return merge_vectors(in.at("task_vectors"), magmax{.lambda = 1}); }},
        {"consensus_ta",
         [](const json& in, const json& p) {
             return fuse(models_of(in.at("finetuned")), task_vectors{model_of(in.at("base"))}
                                                            | consensus{.k = p.at("k").get<std::size_t>(),
                                                                        .threshold = p.at("lambda"),
                                                                        .lambda = p.at("scaling")});
         }},
        {"uniform_soup", [](const json& in, const json&) { return fuse(models_of(in.at("models")), average{}); }},
        {"mecha.n_average", [](const json& in, const json&) { return fuse(models_of(in.at("models")), average{}); }},
        {"mecha.weighted_sum",
         [](const json& in, const json& p) {
             const double t = p.at("alpha");
             return fuse({model_of(in.at("a")), model_of(in.at("b"))}, average{.weights = {1 - t, t}});
         }},
        {"meh.weighted_sum",
         [](const json& in, const json& p) {
             const double t = p.at("alpha");
             return fuse({model_of(in.at("a")), model_of(in.at("b"))}, average{.weights = {1 - t, t}});
         }},
        {"meh.add_difference",
         [](const json& in, const json& p) {
             return fuse({model_of(in.at("a")), model_of(in.at("b")), model_of(in.at("c"))},
                         average{.weights = {1, p.at("alpha"), -p.at("alpha").get<double>()}, .normalize = false});
         }},
        {"slerp_fusionbench",
         [](const json& in, const json& p) {
             return fuse({model_of(in.at("a")), model_of(in.at("b"))}, slerp{.t = p.at("t")});
         }},
        {"mecha.ties_sum",
         [](const json& in, const json& p) {
             const composition_options options{};
             const top_k_by_magnitude trim{p.at("k")};
             if (p.at("vote_sgn").get<bool>())
                 return merge_vectors(in.at("deltas"),
                                      composition{trim, elect_by_sum{}, sum_of{divisor::count}, options});
             return merge_vectors(in.at("deltas"),
                                  composition{trim, elect_by_count{}, sum_of{divisor::count}, options});
         }},
        {"fisher",
         [](const json& in, const json& p) {
             std::vector<model_view> fishers;
             for (model& f : models_of(in.at("fishers"))) fishers.emplace_back(std::move(f));
             return fuse(models_by_name(in.at("params")),
                         fisher_average{.fishers = fishers,
                                        .weights = p.at("coeffs").get<std::vector<double>>(),
                                        .floor = 0,
                                        .smoothing = p.at("fisher_smooth"),
                                        .normalize = p.at("fisher_normalize") == "param"});
         }},
        {"regmean",
         [](const json& in, const json& p) {
             double off_diagonal = 1;
             if (p.contains("reduce_nondiag") && !p.at("reduce_nondiag").is_null())
                 off_diagonal = p.at("reduce_nondiag");
             if (p.value("diag", false)) off_diagonal = 0;
             std::vector<model_view> grams;
             for (model& g : models_of(in.at("grams"))) grams.emplace_back(std::move(g));
             return fuse(models_by_name(in.at("params")), regmean{.grams = grams, .off_diagonal = off_diagonal});
         }},
        {"tall_mask",
         [](const json& in, const json& p) {
             const std::vector<model> tuned = models_of(in.at("finetuned"));
             const model base = model_of(in.at("base"));
             std::vector<double> mask;
             for (std::size_t k = 0; k < tuned.size(); ++k) {
                 const model own = fuse(tuned, task_vectors{base} | tall_mask{.task = k, .threshold = p.at("lambda")});
                 const std::vector<double> x = numbers_of(own, tensor_name);
                 const std::vector<double> x0 = numbers_of(base, tensor_name);
                 for (std::size_t e = 0; e < x.size(); ++e) mask.push_back(x[e] != x0[e]);
             }
             return model_of(
                 {{"dtype", "float32"}, {"shape", {tuned.size(), mask.size() / tuned.size()}}, {"data", mask}});
         }},
        {"emr",
         [](const json& in, const json&) {
             const std::vector<model> tuned = models_of(in.at("task_vectors"));
             const model base = zeros_like(tuned.at(0));
             model result;
             const std::vector<double> unified = numbers_of(fuse(tuned, task_vectors{base} | emr{}), tensor_name);
             const auto put = [&](const std::string& name, const std::vector<double>& x) {
                 add(result, name, {{"dtype", "float32"}, {"shape", {x.size()}}, {"data", x}});
             };
             put("unified", unified);
             std::vector<double> scales;
             for (std::size_t k = 0; k < tuned.size(); ++k) {
                 std::vector<double> own = numbers_of(fuse(tuned, task_vectors{base} | emr{.task = k}), tensor_name);
                 scales.push_back(0);
                 for (std::size_t e = 0; e < own.size(); ++e) {
                     if (own[e] != 0) scales.back() = own[e] / unified[e];
                     own[e] = own[e] != 0;
                 }
                 put("masks." + std::to_string(k), own);
             }
             put("rescalers", scales);
             return result;
         }},
        {"greedy_soup",
         [](const json& in, const json& p) {
             std::vector<double> scores = p.at("trial_accs").get<std::vector<double>>();
             const std::vector<model> models = models_of(in.at("models_sorted_by_val"));
             std::size_t call = 0;
             // First each model alone, in the order of the list; then the trials.
             const auto score = [&](const model_view&) {
                 const std::size_t i = call++;
                 const double first = p.at("first_acc");
                 return i < models.size() ? first - 1e-3 * static_cast<double>(i) : scores.at(i - models.size());
             };
             const soup s = greedy_soup(models, score);
             model result;
             const std::vector<double> kept(s.members.begin(), s.members.end());
             add(result, "kept", {{"dtype", "float32"}, {"shape", {kept.size()}}, {"data", kept}});
             add(result, "params",
                 {{"dtype", "float32"}, {"shape", {s.at(tensor_name).size()}}, {"data", numbers_of(s, tensor_name)}});
             return result;
         }},
        {"mask_input_with_mask_rate",
         [](const json& in, const json& p) {
             const bool rescale = p.at("use_rescale");
             return merge_vectors(json::array({in.at("x")}),
                                  composition{top_k_by_magnitude{1 - p.at("mask_rate").get<double>()},
                                              no_election{},
                                              sum_of{},
                                              {.rescale = rescale ? rescaling::by_density : rescaling::none}});
         }},
        {"iso_c", [](const json& in, const json&) { return merge_vectors(in.at("task_vectors"), isotropic{}); }},
        {"iso_cts",
         [](const json& in, const json& p) {
             return merge_vectors(in.at("task_vectors"), isotropic{.common_space = p.at("common_space_fraction")});
         }},
        {"tsv_m", [](const json& in, const json&) { return merge_vectors(in.at("task_vectors"), tsv{}); }},
        {"fisher_floor",
         [](const json& in, const json& p) {
             std::vector<double> weights = p.at("coeffs").get<std::vector<double>>();
             if (p.contains("normalization_constants"))
                 for (std::size_t k = 0; k < weights.size(); ++k)
                     weights[k] /= p.at("normalization_constants")[k].get<double>();
             std::vector<model_view> fishers;
             for (model& f : models_of(in.at("fishers"))) fishers.emplace_back(std::move(f));
             return fuse(models_of(in.at("params")), fisher_average{.fishers = fishers,
                                                                    .weights = weights,
                                                                    .floor = p.at("fisher_floor"),
                                                                    .floor_first_only = p.at("favor_target_model")});
         }},
        {"dare_reference",
         [](const json& in, const json& p) {
             const std::vector<double> dropped = numbers(in.at("drop_mask"));
             const bool rescale = p.at("use_rescale");
             return merge_vectors(
                 json::array({in.at("x")}),
                 dare{.density = 1 - p.at("mask_rate").get<double>(),
                      .rescale = rescale ? rescaling::by_density : rescaling::none,
                      .keep_mask = [&](std::size_t, std::string_view, std::size_t i) { return dropped.at(i) == 0; }});
         }},
        {"della_reference.rank_magnitude", della_reference},
        {"della_reference.rank_magnitude_layer", della_reference},
        {"della_reference.magnitude_sample", della_reference},
        {"ties_reference",
         [](const json& in, const json& p) {
             const double k = p.at("K");
             const auto by = p.at("merge_func") == "dis-sum" ? divisor::one : divisor::count;
             return merge_vectors(in.at("deltas"),
                                  composition{top_k_by_magnitude{k > 1 ? k / 100 : k}, elect_by_sum{}, sum_of{by}});
         }},
        {"mecha.slerp",
         [](const json& in, const json& p) {
             return fuse({model_of(in.at("a")), model_of(in.at("b"))}, slerp{.t = p.at("alpha")});
         }},
        {"mecha.model_stock",
         [](const json& in, const json&) {
             return merge_vectors(in.at("deltas"), model_stock{.scope = vector_scope::rows});
         }},
        {"mecha.geometric_median",
         [](const json& in, const json&) { return fuse(models_of(in.at("models")), geometric_median{}); }},
        {"model_stock_fusionbench",
         [](const json& in, const json&) {
             const model merged = fuse({model_of(in.at("a")), model_of(in.at("b"))},
                                       task_vectors{model_of(in.at("base"))} | model_stock{});
             model result;
             const auto x = numbers_of(merged, tensor_name);
             add(result, "merged", {{"dtype", "float32"}, {"shape", {x.size()}}, {"data", x}});
             return result;
         }},
        {"config.evaluate_setting",
         [](const json& in, const json&) {
             const double value = gradient{in.at("setting").get<std::vector<double>>()}(in.at("t"));
             model result;
             add(result, "value", {{"dtype", "float64"}, {"shape", {1}}, {"data", {value}}});
             return result;
         }},
        {"sparsify.magnitude_outliers",
         [](const json& in, const json& p) {
             return merge_vectors(
                 json::array({in.at("x")}),
                 breadcrumbs{.density = p.at("density"), .gamma = p.at("gamma"), .rescale = rescaling::by_l1});
         }},
        {"sparsify.magnitude",
         [](const json& in, const json& p) {
             const json norm = p.value("rescale_norm", json());
             const rescaling how = norm == "l1"     ? rescaling::by_l1
                                   : norm == "l2"   ? rescaling::by_l2
                                   : norm == "linf" ? rescaling::by_largest
                                                    : rescaling::none;
             return merge_vectors(
                 json::array({in.at("x")}),
                 composition{top_k_by_magnitude{p.at("density")}, no_election{}, sum_of{}, {.rescale = how}});
         }},
    };
    return table;
}

/// How far an element may be from what is expected.
double tolerance_of(const std::string& rule, double expected, dtype type) {
    if (rule == "exact" || !std::isfinite(expected)) return 0;
    if (rule.starts_with("2 ulp") && expected != 0) {
        const int digits = type == dtype::bf16 ? 8 : type == dtype::f16 ? 11 : type == dtype::f32 ? 24 : 53;
        return 2 * std::ldexp(1.0, std::ilogb(expected) + 1 - digits);
    }
    if (!rule.starts_with("rel 1e-5 / abs 1e-6") && !rule.starts_with("2 ulp"))
        throw std::runtime_error("an unknown tolerance: " + rule);
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

std::string compare(const model& result, const std::string& name, const json& expected, const std::string& rule) {
    const auto& view = result.at(name);
    if (expected.is_number()) return difference(numbers_of(result, name), {expected.get<double>()}, rule, view.type());
    if (expected.is_array())
        return difference(numbers_of(result, name), expected.get<std::vector<double>>(), rule, view.type());
    if (expected.contains("shape") && view.shape() != shape(expected.at("shape").get<std::vector<std::size_t>>()))
        return "the shape is " + to_string(view.shape());
    return difference(numbers_of(result, name), numbers(expected), rule, view.type());
}

bool can_run(const json& c) {
    const std::string method = c.at("method");
    if (method == "config.evaluate_setting") { // of settings, plait knows gradients of numbers
        const json& setting = c.at("inputs").at("setting");
        if (!setting.is_array() || !std::ranges::all_of(setting, &json::is_number)) return false;
    }
    return runners().contains(method) || other_runners().contains(method);
}

model result_of(const json& c, bool as_mergekit) {
    const std::string method = c.at("method");
    if (runners().contains(method)) return runners().at(method)(test_case(c, as_mergekit));
    return other_runners().at(method)(c.at("inputs"), c.value("params", json::object()));
}

/// An empty text, or what is wrong; `other` are the values to expect instead.
std::string run_case(const json& c, const json* other, bool as_mergekit = false) {
    const json& expected = other ? *other : c;
    try {
        const model result = result_of(c, as_mergekit);
        if (expected.contains("expected_error")) return "no error, expected one";
        const std::string rule = other ? other->value("tol", "exact") : c.value("tol", "exact");
        const json& tensors = expected.at("expected");
        if (tensors.contains("data")) return compare(result, tensor_name, tensors, rule);
        for (const auto& [name, tensor] : tensors.items()) {
            if (c.at("method") == "model_stock_fusionbench" && name != "merged") continue; // figures on the way
            if (tensor.is_array() && !tensor.empty() && tensor[0].is_object()) {
                for (std::size_t k = 0; k < tensor.size(); ++k)
                    if (std::string fault = compare(result, name + "." + std::to_string(k), tensor[k], rule);
                        !fault.empty())
                        return name + ": " + fault;
                continue;
            }
            if (std::string fault = compare(result, name, tensor, rule); !fault.empty()) return name + ": " + fault;
        }
        return {};
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
    std::size_t compatible = 0;
    std::map<std::string, std::size_t> left_out;
    for (const json& c : cases) {
        const std::string id = c.at("id");
        if (!can_run(c)) {
            ++left_out[c.at("method")];
            continue;
        }
        const json* other = differences.contains(id) ? &differences[id] : nullptr;
        std::string fault = run_case(c, other);
        if (fault.empty() && other && other->value("compat", false)) {
            fault = run_case(c, nullptr, true);
            if (fault.empty()) ++compatible;
        }
        ++(fault.empty() ? passed : failed);
        if (fault.empty() && other) ++deliberate;
        std::cout << (fault.empty() ? "pass " : "FAIL ") << id;
        if (!fault.empty()) std::cout << ": " << fault;
        if (other) std::cout << " (differs: " << other->at("because").get<std::string>() << ")";
        std::cout << '\n';
    }
    std::cout << passed << " passed, of these " << deliberate
              << " with a deliberate difference, which compat::mergekit "
              << "undoes in " << compatible << "; " << failed << " failed\n";
    for (const auto& [method, n] : left_out) std::cout << "not run: " << method << " (" << n << ")\n";
    return failed > 0;
} catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
}
