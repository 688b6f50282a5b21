// Sixteen contributors tune one public model on their own digits; one of them sends noise of 100 times the scale. What
// the plain mean and the robust methods make of that.   usage: careless_contributors
#include "bridge.hpp"
#include "trainer/digits.hpp"
#include "trainer/evaluate.hpp"
#include "trainer/models.hpp"
#include "trainer/train.hpp"

#include <plait/plait.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

constexpr std::size_t contributors = 16;
const std::vector<std::size_t> widths{64, 512, 512, 10};

/// Noise of `factor` times the size of each tensor's elements.
plait::model noise_like(const plait::model_view& contribution, double factor) {
    plait::model noise = plait::model::copy_of(contribution);
    plait::counter_random draw(1);
    for (const auto& [name, view] : noise.tensors()) {
        const auto elements = view.as<float>();
        double squares = 0;
        for (std::size_t i = 0; i < elements.size(); ++i) squares += std::pow(elements.data()[i], 2);
        const double deviation = std::sqrt(squares / static_cast<double>(elements.size()));
        for (std::size_t i = 0; i < elements.size(); ++i) // uniform, of that deviation
            elements.data()[i] = static_cast<float>(factor * deviation * std::sqrt(12) * (draw.uniform() - .5));
    }
    return noise;
}

void run() {
    const auto digits = trainer::load_digits();
    const auto halves = trainer::shards(digits.train, 2, 0); // a public one, and one that the contributors share out
    auto base = trainer::mlp(widths, 1);
    trainer::train(base, halves[0], {.steps = 200, .seed = 1});
    const plait::model_view base_view = view_of(base);

    std::vector<plait::model> clean;
    const auto shards = trainer::shards(halves[1], contributors, 1);
    for (std::size_t k = 0; k < contributors; ++k) {
        auto net = base;
        trainer::train(net, shards[k], {.steps = 30, .learning_rate = 3e-4F, .seed = 100 + k});
        clean.push_back(plait::model::copy_of(view_of(net)));
    }
    std::vector<plait::model> hostile = clean;
    hostile[5] = noise_like(clean[5], 100);

    std::printf("%-24s %8s %8s\n", "accuracy on 451 digits", "clean", "hostile");
    const auto compare = [&](const char* what, const auto& policy) {
        const auto score = [&](const std::vector<plait::model>& models) {
            return trainer::evaluate(with_parameters(base, plait::fuse(models, policy)), digits.test).accuracy;
        };
        std::printf("%-24s %8.4f %8.4f\n", what, score(clean), score(hostile));
    };
    using plait::task_vectors;
    std::printf("%-24s %8.4f\n", "the public model", trainer::evaluate(base, digits.test).accuracy);
    compare("average", task_vectors{base_view} | plait::average{});
    compare("coordinate_median", task_vectors{base_view} | plait::coordinate_median{});
    compare("trimmed_mean", task_vectors{base_view} | plait::trimmed_mean{.beta = .125});
    compare("krum", task_vectors{base_view} | plait::krum{.f = 2});
    compare("multi_krum", task_vectors{base_view} | plait::multi_krum{.f = 2, .m = 8});
    compare("bulyan", task_vectors{base_view} | plait::bulyan{.f = 2});
    compare("clipped_mean", task_vectors{base_view} | plait::clipped_mean{});
    compare("geometric_median", task_vectors{base_view} | plait::geometric_median{});
}

} // namespace

int main() {
    try {
        run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "careless_contributors: %s\n", e.what());
        return 1;
    }
}
