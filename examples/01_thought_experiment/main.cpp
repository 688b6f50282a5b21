// One network, N copies of it with their hidden units reordered: all compute the same function. What is their mean?
#include "bridge.hpp"
#include "trainer/digits.hpp"
#include "trainer/evaluate.hpp"
#include "trainer/models.hpp"
#include "trainer/random.hpp"
#include "trainer/train.hpp"

#include <plait/plait.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

plait::model reordered_copy(const plait::model_view& original, const plait::permutation_spec& spec,
                            trainer::random_source& random) {
    const auto bound = std::make_shared<const plait::bound_spec>(plait::bind(spec, original));
    std::vector<plait::unit_map> maps;
    for (const plait::unit_group& group : bound->groups()) {
        std::vector<std::size_t> order(group.size);
        std::iota(order.begin(), order.end(), std::size_t{0});
        random.shuffle(std::span(order));
        maps.emplace_back(plait::permutation(order));
    }
    return plait::permute(original, plait::model_map(bound, std::move(maps)));
}

bool same_bits(const plait::model_view& a, const plait::model_view& b) {
    return std::ranges::all_of(a.tensors(), [&](const plait::named_tensor& t) {
        return std::memcmp(t.view.bytes(), b.at(t.name).bytes(), t.view.size_bytes()) == 0;
    });
}

} // namespace

int main() {
    const auto digits = trainer::load_digits();
    auto net = trainer::mlp({64, 512, 512, 10}, 1);
    trainer::train(net, digits.train, {.steps = 300, .seed = 1});
    const auto outputs = trainer::logits(net, digits.test.inputs);
    std::printf("the original: accuracy %.4f\n\n", trainer::evaluate(net, digits.test).accuracy);

    const auto spec = mlp_spec();
    const auto forward = [&](const plait::model_view& m) {
        return trainer::logits(with_parameters(net, m), digits.test.inputs);
    };
    if (!plait::self_check(spec, view_of(net), forward)) throw std::runtime_error("the spec does not fit the network");

    std::printf("%6s %20s %20s %20s %16s\n", "copies", "plain mean accuracy", "fused accuracy", "largest difference",
                "same weights");
    trainer::random_source random(7);
    for (const std::size_t copies : {2U, 8U, 64U}) {
        std::vector<plait::model> models{plait::model::copy_of(view_of(net))};
        while (models.size() < copies) models.push_back(reordered_copy(view_of(net), spec, random));

        const auto mean = plait::merge(models, plait::average{});
        const auto fused = plait::fuse(models, plait::weight_matching{spec} | plait::average{});

        const auto fused_outputs = forward(fused);
        float difference = 0;
        for (std::size_t i = 0; i < outputs.size(); ++i)
            difference = std::max(difference, std::fabs(fused_outputs.flat(i) - outputs.flat(i)));
        std::printf("%6zu %20.4f %20.4f %20.1e %16s\n", copies,
                    trainer::evaluate_logits(forward(mean), digits.test.labels).accuracy,
                    trainer::evaluate_logits(fused_outputs, digits.test.labels).accuracy, static_cast<double>(difference),
                    same_bits(fused, view_of(net)) ? "bit for bit" : "no");
    }
}
