#include <plait/align/align.hpp>
#include <plait/align/weight_matching.hpp>
#include <plait/fuse/fuse.hpp>
#include <plait/merge/average.hpp>

#include "support/catch.hpp"
#include "support/networks.hpp"

#include <string>

using namespace plait;

namespace {

std::vector<model> copies(const networks::architecture& net, const model& original, std::size_t count) {
    const auto spec = networks::bound(net, original);
    std::vector<model> models{original};
    while (models.size() < count) models.push_back(permute(original, networks::random_order(spec, models.size())));
    return models;
}

model reversed(const model& m) { // the same tensors in another order
    model result;
    const auto tensors = m.tensors();
    for (std::size_t i = tensors.size(); i-- > 0;)
        std::memcpy(result.add(tensors[i].name, tensors[i].view.type(), tensors[i].view.shape()).bytes(),
                    tensors[i].view.bytes(), tensors[i].view.size_bytes());
    return result;
}

} // namespace

TEST_CASE("reordered copies are undone bit for bit, for 2, 8 and 64 of them", "[copies]") {
    struct example {
        std::string name;
        networks::architecture net;
    };
    const std::vector<example> examples{{"MLP", networks::mlp({16, 60, 50, 40, 7})},
                                        {"convolution, batch norm and flatten", networks::convolutional()},
                                        {"residual", networks::residual(24, 40, 3, 6, 5)}};
    for (const example& e : examples) {
        for (const dtype type : {dtype::f32, dtype::bf16}) {
            const model original = networks::random_model(e.net, 11, type);
            for (std::size_t count : {2U, 8U, 64U}) {
                INFO(e.name << ", " << count << " copies of " << name(type));
                const auto models = copies(e.net, original, count);
                const fused_model fused = fuse(models, weight_matching{e.net.spec} | average{});
                CHECK(networks::same_bits(fused, original));
                CHECK(networks::largest_difference(e.net.forward(fused), e.net.forward(original)) <= 1e-6);
                const model mean = merge(models, average{});
                CHECK(networks::largest_difference(e.net.forward(mean), e.net.forward(original)) > 0.1);
            }
        }
    }
}

TEST_CASE("a model fused with itself or alone is itself") {
    const auto net = networks::mlp({6, 20, 4});
    const model a = networks::random_model(net, 1);
    CHECK(networks::same_bits(fuse({a, a}, weight_matching{net.spec} | average{}), a));
    CHECK(networks::same_bits(fuse({a}, weight_matching{net.spec} | average{}), a));
    CHECK(networks::same_bits(fuse({a}, average{}), a));
}

TEST_CASE("fuse is align, then merge") {
    const auto net = networks::residual(12, 20, 2, 3, 3);
    const model a = networks::random_model(net, 1);
    const model b = networks::random_model(net, 2);
    for (const bool balance : {false, true}) {
        const weight_matching strategy{net.spec, {.balance = balance}};
        const alignment order = align({a, b}, strategy);
        const fused_model fused = fuse({a, b}, strategy | average{});
        CHECK(networks::same_bits(fused, merge({a, b}, order, average{})));
        const model by_hand = merge({permute(a, order.model(0)), permute(b, order.model(1))}, average{});
        CHECK(networks::largest_difference(net.forward(fused), net.forward(by_hand)) < 1e-5);
        if (!balance) CHECK(networks::same_bits(fused, by_hand));
        CHECK(fused.report.models.size() == 2);
        CHECK(fused.report.merged == net.tensors.size());
        CHECK(fused.order.model(1)[0] == order.model(1)[0]);
    }
}

TEST_CASE("the bytes do not depend on threads, on the order of tensors, or on the run") {
    const auto net = networks::mlp({20, 90, 70, 5});
    std::vector<model> models;
    for (std::uint64_t k = 0; k < 3; ++k) models.push_back(networks::random_model(net, k));
    for (const weight_matching_options& options :
         {weight_matching_options{}, weight_matching_options{.restarts = 1, .balance = true}}) {
        const auto policy = weight_matching{net.spec, options} | average{.weights = {.5, .3, .2}};
        const model once = fuse(models, policy);
        CHECK(networks::same_bits(once, fuse(models, policy)));
        CHECK(networks::same_bits(once, fuse(models, policy, {.threads = 2})));
        CHECK(networks::same_bits(once, fuse({models[0], reversed(models[1]), reversed(models[2])}, policy)));
        CHECK(networks::same_bits(once, fuse({reversed(models[0]), models[1], models[2]}, policy)));
    }
}

TEST_CASE("a trainer's live buffers are inputs and output at once") {
    const auto net = networks::mlp({6, 20, 15, 4});
    const model a = networks::random_model(net, 1);
    const model b = networks::random_model(net, 2);
    const auto policy = weight_matching{net.spec} | average{};
    const model expected = fuse({a, b}, policy);

    model live = b;
    mutable_model_view trainer(live.tensors());
    const fusion_report report = fuse_into(trainer, {a, trainer}, policy, {.threads = 2});
    CHECK(networks::same_bits(live, expected));
    CHECK(report.models.size() == 2);

    model target = a; // apart from the inputs
    fuse_into(target, {a, b}, policy);
    CHECK(networks::same_bits(target, expected));
    target = a; // the first input itself
    fuse_into(target, {target, b}, policy);
    CHECK(networks::same_bits(target, expected));
}

TEST_CASE("when the observer gives up, live buffers that are inputs are as they were") {
    const auto net = networks::mlp({6, 20, 15, 4});
    const model a = networks::random_model(net, 1);
    model live = networks::random_model(net, 2);
    const model before = live;
    struct stop {};
    const run_options options{.on_progress = [](double share) {
        if (share > 0.9) throw stop{};
    }};
    CHECK_THROWS_AS(fuse_into(live, {a, live}, weight_matching{net.spec} | average{}, options), stop);
    CHECK(networks::same_bits(live, before));
}

TEST_CASE("task vectors are added to their base, in the base's order") {
    const auto net = networks::mlp({6, 30, 4});
    const model base = networks::random_model(net, 1);
    const auto spec = networks::bound(net, base);
    const model tuned = networks::with_noise(base, 0.05, 2);
    const model moved = permute(tuned, networks::random_order(spec, 3));
    const model mean = fuse({tuned, moved}, weight_matching{net.spec} | task_vectors{base} | average{});
    for (const auto& t : mean.tensors()) // base + (tuned - base), rounded
        CHECK(networks::largest_difference(networks::values(t.view), networks::values(tuned.at(t.name))) < 1e-6);

    const auto half = task_vectors{model(base)} | average{.weights = {.5}, .normalize = false};
    const model between = fuse({tuned}, half);
    for (const auto& t : between.tensors()) {
        const auto x = networks::values(base.at(t.name));
        const auto y = networks::values(tuned.at(t.name));
        const auto z = networks::values(t.view);
        for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(z[i] == Catch::Approx((x[i] + y[i]) / 2).margin(1e-6));
    }
}

TEST_CASE("a repair corrects the merged model before it is delivered") {
    struct set_bias {
        using part = repair_part;
        void repair(model& merged, std::span<const model_view> inputs, const run_options&) const {
            auto sum = networks::values(inputs[0].at("fc2.bias"));
            const auto other = networks::values(inputs[1].at("fc2.bias"));
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
            networks::assign(merged.at("fc2.bias"), sum);
        }
    };
    static_assert(repair_step<set_bias>);
    const auto net = networks::mlp({6, 20, 4});
    const model a = networks::random_model(net, 1);
    const model b = permute(a, networks::random_order(networks::bound(net, a), 2));
    const auto policy = weight_matching{net.spec} | average{} | set_bias{};
    const model fused = fuse({a, b}, policy);
    CHECK(networks::values(fused.at("fc2.bias"))[1] == Catch::Approx(2 * networks::values(a.at("fc2.bias"))[1]));
    CHECK(networks::values(fused.at("fc1.weight")) == networks::values(a.at("fc1.weight")));
    model target = a;
    fuse_into(target, {a, b}, policy);
    CHECK(networks::same_bits(target, fused));
}

TEST_CASE("models of all kinds stand in one list") {
    const auto net = networks::mlp({6, 20, 4});
    model a = networks::random_model(net, 1);
    const model b = networks::random_model(net, 2);
    mutable_model_view trainer(a.tensors());
    const model_view view = b;
    const auto policy = weight_matching{net.spec} | average{};
    const model fused = fuse({trainer, view, a, model(b), fuse({a, b}, average{})}, policy, {.threads = 2});
    CHECK(fused.size() == 4);
    const std::vector<model_view> views{a, b};
    CHECK(networks::same_bits(fuse(views, policy), fuse({a, b}, policy)));
}

TEST_CASE("wrong weights are refused before the long work of aligning") {
    const auto net = networks::mlp({6, 20, 4});
    const model a = networks::random_model(net, 1);
    bool started = false;
    const run_options options{.on_progress = [&](double) { started = true; }};
    CHECK_THROWS_AS(fuse({a, a}, weight_matching{net.spec} | average{.weights = {1, 2, 3}}, options), option_error);
    CHECK_THROWS_AS(fuse(std::vector<model>{}, weight_matching{net.spec} | average{}, options), option_error);
    model wrong = networks::random_model(networks::mlp({6, 21, 4}), 1);
    CHECK_THROWS_AS(fuse_into(wrong, {a, a}, weight_matching{net.spec} | average{}, options), shape_error);
    CHECK_FALSE(started);
}

TEST_CASE("buffers of another type that are inputs too are rounded once, into their own type") {
    const auto net = networks::mlp({6, 20, 4});
    const model a = networks::random_model(net, 1);
    const model b = networks::random_model(net, 2, dtype::bf16);
    const auto policy = weight_matching{net.spec} | average{};
    model apart = b;
    fuse_into(apart, {a, b}, policy);
    CHECK(apart.at("fc1.weight").type() == dtype::bf16);
    model live = b;
    fuse_into(live, {a, live}, policy);
    CHECK(networks::same_bits(live, apart));
    model wide = networks::random_model(net, 3, dtype::f64);
    model narrow = b;
    fuse_into(narrow, {b, wide}, policy);
    fuse_into(wide, {b, wide}, policy); // larger elements than the first model's
    for (const auto& t : narrow.tensors())
        CHECK(networks::largest_difference(networks::values(t.view), networks::values(wide.at(t.name))) < 0.02);
}

TEST_CASE("fusing into the base leaves it alone until the result is complete") {
    const auto net = networks::mlp({6, 20, 4});
    model base = networks::random_model(net, 1);
    const model before = base;
    const model tuned = networks::with_noise(base, 0.1, 2);
    struct stop {};
    const run_options options{.on_progress = [](double) { throw stop{}; }};
    CHECK_THROWS_AS(fuse_into(base, {tuned}, task_vectors{base} | average{}, options), stop);
    CHECK(networks::same_bits(base, before));
    fuse_into(base, {tuned}, task_vectors{base} | average{});
    CHECK(networks::same_bits(base, fuse({tuned}, task_vectors{before} | average{})));
}

TEST_CASE("small differences from a large base are not lost") {
    model base;
    networks::assign(base.add("w", dtype::f32, {1}), {1});
    model tuned = base;
    networks::assign(tuned.at("w"), {1e-9});
    const model fused = fuse({tuned, tuned}, task_vectors{base} | average{});
    CHECK(networks::values(fused.at("w"))[0] == Catch::Approx(1e-9).epsilon(1e-6));
}

TEST_CASE("an output that begins twice in the same memory is refused") {
    std::vector<float> shared(4);
    mutable_model_view tied = {{"a", tensor_view{shared, {4}}}, {"b", tensor_view{shared, {4}}}};
    model m;
    networks::assign(m.add("a", dtype::f32, {4}), {1, 2, 3, 4});
    networks::assign(m.add("b", dtype::f32, {4}), {5, 6, 7, 8});
    CHECK_THROWS_WITH(fuse_into(tied, {m, m}, average{}), Catch::Contains("memory of tensor \"a\""));
    CHECK(shared == std::vector<float>(4));

    std::vector<float> longer(7);
    mutable_model_view overlapping = {{"a", tensor_view{longer.data(), {4}}},
                                      {"b", tensor_view{longer.data() + 3, {4}}}};
    CHECK_THROWS_WITH(fuse_into(overlapping, {m, m}, average{}), Catch::Contains("memory of tensor \"a\""));
    CHECK(longer == std::vector<float>(7));
}

TEST_CASE("a group that was matched on all its tensors is not matched again") {
    const auto net =
        networks::without_biases(networks::mlp({100, 30, 25, 5})); // inputs enough to be certain of every unit of h1
    const model a = networks::random_model(net, 1);
    const model b = permute(a, networks::random_order(networks::bound(net, a), 2));
    int solved = 0;
    struct counting {
        int* solved;
        assignment operator()(matrix_view<const float> costs) const {
            ++*solved;
            return hungarian{}(costs);
        }
    };
    const fused_model fused = fuse({a, b}, weight_matching{net.spec, counting{&solved}} | average{});
    CHECK(networks::same_bits(fused, a));
    CHECK(solved == 3); // h1 on the inputs alone, h2 on all there is, h1 once more
}
