#include <plait/plait.hpp>

#include "support/catch.hpp"

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace plait;

// Each concept accepts what a stranger would write, and rejects it with one part missing or wrong.
namespace {

// element
static_assert(element<float> && element<const double> && element<float16> && element<bfloat16> && element<bool>);
static_assert(element<std::int64_t> && element<unsigned char> && element<char> && element<long>);
static_assert(!element<std::complex<float>> && !element<long double> && !element<std::string> && !element<float*>);
static_assert(!element<float&> && !element<void>);

// checkpoint, writable_checkpoint
struct lists_tensors {
    std::vector<named_tensor> tensors() const;
};
struct lists_writable {
    std::list<mutable_named_tensor> tensors() const;
};
struct lists_writable_only_when_mutable {
    std::vector<named_tensor> tensors() const;
    std::vector<mutable_named_tensor> tensors();
};
struct lists_by_reference {
    const std::vector<named_tensor>& tensors() const;
};
struct lists_names {
    std::vector<std::string> tensors() const;
};
struct lists_nothing {
    void tensors() const;
};
struct lists_only_when_mutable {
    std::vector<named_tensor> tensors();
};
static_assert(checkpoint<lists_tensors> && checkpoint<lists_writable> && checkpoint<lists_by_reference>);
static_assert(checkpoint<model> && checkpoint<model_view> && checkpoint<mutable_model_view> && checkpoint<fused_model>);
static_assert(!checkpoint<lists_names> && !checkpoint<lists_nothing> && !checkpoint<lists_only_when_mutable>);
static_assert(!checkpoint<std::vector<named_tensor>> && !checkpoint<int>);
static_assert(writable_checkpoint<lists_writable> && writable_checkpoint<lists_writable_only_when_mutable>);
static_assert(writable_checkpoint<model> && writable_checkpoint<mutable_model_view>);
static_assert(
    !writable_checkpoint<lists_tensors> && !writable_checkpoint<model_view> && !writable_checkpoint<const model>);
static_assert(std::convertible_to<lists_tensors, model_view> && !std::convertible_to<lists_names, model_view>);

// streaming_sink, checkpoint_sink
struct stream {
    void begin(std::span<const named_tensor>);
    void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes);
    void commit();
};
struct stream_without_commit {
    void begin(std::span<const named_tensor>);
    void write(std::size_t, std::size_t, std::span<const std::byte>);
};
struct stream_without_offsets {
    void begin(std::span<const named_tensor>);
    void write(std::size_t, std::span<const std::byte>);
    void commit();
};
static_assert(
    streaming_sink<stream> && !streaming_sink<stream_without_commit> && !streaming_sink<stream_without_offsets>);
static_assert(!streaming_sink<model> && !streaming_sink<const stream>);
static_assert(checkpoint_sink<stream> && checkpoint_sink<model> && checkpoint_sink<mutable_model_view>);
static_assert(checkpoint_sink<lists_writable> && !checkpoint_sink<lists_tensors>);
static_assert(!checkpoint_sink<model_view> && !checkpoint_sink<stream_without_commit> && !checkpoint_sink<const model>);

// matcher
struct in_order {
    assignment operator()(matrix_view<const float> cost) const {
        return {.columns = std::vector<std::size_t>(cost.rows(), assignment::unmatched)};
    }
};
struct returns_columns {
    std::vector<std::size_t> operator()(matrix_view<const float>) const;
};
struct only_doubles {
    assignment operator()(matrix_view<const double>) const;
};
struct mutable_matcher {
    assignment operator()(matrix_view<const float>);
};
struct uncopyable_matcher : in_order {
    std::unique_ptr<int> state;
};
static_assert(matcher<hungarian> && matcher<greedy> && matcher<in_order>);
static_assert(matcher<assignment (*)(matrix_view<const float>)>);
static_assert(!matcher<returns_columns> && !matcher<only_doubles> && !matcher<mutable_matcher>);
static_assert(!matcher<uncopyable_matcher> && !matcher<int>);

struct keeps_nothing : in_order {
    using in_order::operator();
    std::vector<std::size_t> operator()(matrix_view<const float>, const assignment&) const { return {}; }
};
static_assert(warm_matcher<hungarian>);
static_assert(!warm_matcher<greedy> && !warm_matcher<keeps_nothing>);

// tensor_run, merge_method
struct first_model {
    static constexpr std::string_view name = "first_model";
    struct run {
        void combine(const auto& b, std::span<double> out) const {
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(b.values[0][i]);
        }
    };
    run start(const tensor_context&) const { return {}; }
};
struct run_of_floats {
    void combine(block<float>, std::span<double>) const;
};
struct run_with_state {
    void combine(block<float>, std::span<double>);
    void combine(block<double>, std::span<double>);
};
struct nameless_method {
    first_model::run start(const tensor_context&) const;
};
struct method_without_run {
    static constexpr std::string_view name = "method_without_run";
    run_of_floats start(const tensor_context&) const;
};
static_assert(tensor_run<average::run> && tensor_run<first_model::run>);
static_assert(!tensor_run<run_of_floats> && !tensor_run<run_with_state> && !tensor_run<average>);
static_assert(merge_method<average> && merge_method<first_model>);
static_assert(!merge_method<nameless_method> && !merge_method<method_without_run> && !merge_method<average::run>);
static_assert(!merge_method<unaligned> && !merge_method<task_vectors> && !merge_method<no_repair>);

// alignment_strategy, weight_space, repair_step
struct my_alignment {
    using part = alignment_part;
    alignment align(const model_view*, std::span<const model_view> models, const run_options&) const {
        return alignment(models.size());
    }
};
struct alignment_of_another_part : my_alignment {
    using part = repair_part;
};
struct alignment_without_anchor {
    using part = alignment_part;
    alignment align(std::span<const model_view>) const;
};
static_assert(
    alignment_strategy<unaligned> && alignment_strategy<weight_matching<>> && alignment_strategy<my_alignment>);
static_assert(alignment_strategy<weight_matching<in_order>>);
static_assert(!alignment_strategy<alignment_of_another_part> && !alignment_strategy<alignment_without_anchor>);
static_assert(!alignment_strategy<average> && !alignment_strategy<permutation_spec>);

struct space_without_deltas {
    using part = space_part;
};
static_assert(weight_space<absolute_weights> && weight_space<task_vectors>);
static_assert(!weight_space<space_without_deltas> && !weight_space<unaligned> && !weight_space<model>);

struct my_repair {
    using part = repair_part;
    void repair(model&, std::span<const model_view>, const run_options&) const {}
};
struct repair_of_views {
    using part = repair_part;
    void repair(model_view&, std::span<const model_view>, const run_options&) const;
};
static_assert(repair_step<no_repair> && repair_step<my_repair>);
static_assert(!repair_step<repair_of_views> && !repair_step<unaligned> && !repair_step<average>);

// fusion_policy: complete policies and methods, not the beginnings of one
static_assert(fusion_policy<average> && fusion_policy<first_model>);
static_assert(fusion_policy<decltype(weight_matching{permutation_spec{}} | average{})>);
static_assert(fusion_policy<decltype(unaligned{} | task_vectors{model_view{}} | average{} | no_repair{})>);
static_assert(!fusion_policy<decltype(unaligned{} | task_vectors{model_view{}})> && !fusion_policy<unaligned>);
static_assert(!fusion_policy<int> && !fusion_policy<permutation_spec>);

// model_range
static_assert(
    model_range<std::vector<model>> && model_range<std::list<model_view>> && model_range<std::array<model, 2>>);
static_assert(model_range<std::span<const model>> && model_range<std::forward_list<lists_tensors>>);
static_assert(!model_range<std::vector<int>> && !model_range<model> && !model_range<std::vector<named_tensor>>);

// forward_pass
static_assert(forward_pass<std::vector<float> (*)(const model_view&)>);
static_assert(forward_pass<decltype([](const model_view&) { return std::array<double, 3>{}; })>);
static_assert(!forward_pass<double (*)(const model_view&)>);
static_assert(!forward_pass<std::vector<std::string> (*)(const model_view&)>);
static_assert(!forward_pass<std::vector<float> (*)(model&)>);

// tables of rules are judged at compile time
constexpr std::array rules{axis_rule{"layers.{l}.mlp.up.weight", "ffn.{l} resid"}, axis_rule{"a", "(kv 4 _) resid"}};
static_assert(well_formed(rules));

model mlp(float first) {
    model m;
    for (const auto& [name, s] : std::vector<std::pair<std::string, shape>>{
             {"fc1.weight", {3, 2}}, {"fc1.bias", {3}}, {"out.weight", {2, 3}}, {"out.bias", {2}}}) {
        const auto w = m.add(name, dtype::f32, s).as<float>();
        for (std::size_t i = 0; i < w.size(); ++i) w.data()[i] = first += 1;
    }
    return m;
}

permutation_spec mlp_spec() {
    return permutation_spec{}
        .tensor("fc1.weight", "h1 _").tensor("fc1.bias", "h1")
        .tensor("out.weight", "_ h1").tensor("out.bias", "_").units("h1", activation::relu).fixed("*.ids");
}

} // namespace

TEST_CASE("the lines that users write compile and run") {
    const auto spec = mlp_spec();
    const model a = mlp(0);
    model b = mlp(0);
    const model merged = fuse({a, b}, weight_matching{spec} | average{});
    CHECK(merged.at("out.bias").as<const float>()(1) == a.at("out.bias").as<const float>()(1));

    const auto w1 = weight_matching{spec, {.max_sweeps = 20}};
    const auto w2 = weight_matching{spec, hungarian{}, {.restarts = 3, .balance = true}};
    const auto w3 = weight_matching{spec, greedy{}, {.max_sweeps = 20}};
    STATIC_REQUIRE(std::same_as<decltype(w1), const weight_matching<hungarian>>);
    STATIC_REQUIRE(std::same_as<decltype(w3), const weight_matching<greedy>>);
    CHECK(w1.options().max_sweeps == 20);
    CHECK(w2.options().balance);

    const alignment order = align({a, b}, w1);
    const permutation& p = order.model(1).group("h1").permutation();
    CHECK(p == permutation::identity(3));
    CHECK(permute(b, order.model(1)).size() == 4);
    CHECK(merge({a, b}, order, average{}).size() == 4);

    const std::vector<model> models(3, a);
    const auto soup = fuse(models, average{.weights = {.4, .3, .3}}, {.threads = 2});
    CHECK(soup.report.models.size() == 3);
    const fused_model tuned = fuse(models, task_vectors{a} | average{});
    const auto kept = task_vectors{mlp(0)} | average{}; // an rvalue is taken over
    const model again = fuse({tuned, a}, kept);
    CHECK(again.at("fc1.bias").as<const float>()(0) == a.at("fc1.bias").as<const float>()(0));

    std::vector<float> w(6);
    std::vector<float> bias(3);
    const float* read_only = bias.data();
    const model_view live = {{"w", tensor_view{w, {2, 3}}}, {"b", tensor_view{read_only, {3}}}};
    mutable_model_view trainer = {{"w", tensor_view{w.data(), {2, 3}}}, {"b", tensor_view{bias, {3}}}};
    fuse_into(trainer, {live, trainer, live}, average{});
    CHECK_THROWS_AS(fuse({}, average{}), option_error);
}

TEST_CASE("an alignment, a method and a repair of one's own make a policy") {
    const model a = mlp(0);
    const model b = mlp(10);
    const model fused = fuse({a, b}, my_alignment{} | first_model{} | my_repair{});
    for (const auto& t : fused.tensors())
        for (std::size_t i = 0; i < t.view.size(); ++i)
            CHECK(t.view.as<const float>().data()[i] == a.at(t.name).as<const float>().data()[i]);
}
