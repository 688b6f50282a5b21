// Eight contributors train on their own shards of the digits, from their own initialisations, and publish checkpoints.
// Plain averaging destroys them; fuse() weaves them into one model.   usage: contributors [directory for the files]
#include "bridge.hpp"
#include "trainer/digits.hpp"
#include "trainer/evaluate.hpp"
#include "trainer/models.hpp"
#include "trainer/train.hpp"

#include <plait/io/io.hpp>
#include <plait/plait.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t contributors = 8;
constexpr std::uint64_t data_seed = 0;
constexpr std::uint64_t joint_seed = 1000;
const std::vector<std::size_t> widths{64, 512, 512, 10};

trainer::network train(const std::string& who, const trainer::dataset& data, std::uint64_t seed, std::size_t steps) {
    auto net = trainer::mlp(widths, seed);
    const auto show = [&](std::size_t step, double loss) {
        if (step % 60 == 0 || step == steps) {
            std::fprintf(stderr, "\r%-14s %4zu samples, step %3zu of %zu, loss %.4f", who.c_str(), data.size(), step, steps, loss);
        }
    };
    trainer::train(net, data, {.steps = steps, .seed = seed + 7999, .on_step = show});
    std::fputs("\n", stderr);
    return net;
}

// The mean of the networks' probabilities: as good as a merge could hope to be, at eight times the cost.
trainer::score bagging(const std::vector<trainer::network>& nets, const trainer::dataset& test) {
    xt::xtensor<float, 2> mean = trainer::softmax(trainer::logits(nets[0], test.inputs));
    for (std::size_t k = 1; k < nets.size(); ++k) mean += trainer::softmax(trainer::logits(nets[k], test.inputs));
    mean /= static_cast<float>(nets.size());
    return trainer::evaluate_probabilities(mean, test.labels);
}

void print(const std::string& what, const trainer::score& s) {
    std::printf("%-44s %8.4f %8.4f\n", what.c_str(), s.accuracy, s.loss);
}

nlohmann::ordered_json json_of(const trainer::score& s) { return {{"accuracy", s.accuracy}, {"loss", s.loss}}; }

void run(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    const auto digits = trainer::load_digits();
    const auto shards = trainer::shards(digits.train, contributors, data_seed);

    std::vector<trainer::network> nets;
    std::vector<std::uint64_t> seeds;
    std::vector<std::filesystem::path> files;
    for (std::size_t k = 0; k < contributors; ++k) {
        seeds.push_back(k + 1);
        nets.push_back(train("contributor " + std::to_string(k + 1), shards[k], seeds[k], 300));
        files.push_back(directory / ("contributor_" + std::to_string(k + 1) + ".safetensors"));
        plait::io::save(files[k], view_of(nets[k]));
    }
    const auto joint = train("all data", digits.train, joint_seed, 630);

    // Everything from here on knows the checkpoints by their files alone.
    std::vector<plait::io::safetensors_file> models;
    for (const auto& file : files) models.push_back(plait::io::open(file));
    const auto spec = mlp_spec();
    const auto forward = [&](const plait::model_view& m) {
        return trainer::logits(with_parameters(nets[0], m), digits.test.inputs);
    };
    if (!plait::self_check(spec, models[0], forward)) throw std::runtime_error("the spec does not fit the network");

    auto out = plait::io::create(directory / "fused.safetensors");
    plait::fuse_into(out, models, plait::weight_matching{spec} | plait::average{});
    const auto fused = with_parameters(nets[0], plait::io::open(directory / "fused.safetensors"));
    const auto naive = with_parameters(nets[0], plait::merge(models, plait::average{}));

    std::printf("\n%-44s %8s %8s\n", "test set of 451 digits", "accuracy", "loss");
    std::vector<trainer::score> singles;
    for (std::size_t k = 0; k < contributors; ++k) {
        singles.push_back(trainer::evaluate(nets[k], digits.test));
        print("contributor " + std::to_string(k + 1), singles[k]);
    }
    const auto best = *std::ranges::max_element(singles, {}, &trainer::score::accuracy);
    const auto naive_score = trainer::evaluate(naive, digits.test);
    const auto fused_score = trainer::evaluate(fused, digits.test);
    const auto ensemble_score = bagging(nets, digits.test);
    const auto joint_score = trainer::evaluate(joint, digits.test);
    print("best single contributor", best);
    print("plain mean of the weights", naive_score);
    print("fused by plait", fused_score);
    print("ensemble of the eight (bagging)", ensemble_score);
    print("one model trained on all data", joint_score);

    const nlohmann::ordered_json result{{"best_single", json_of(best)},
                                        {"naive", json_of(naive_score)},
                                        {"fused", json_of(fused_score)},
                                        {"ensemble", json_of(ensemble_score)},
                                        {"joint", json_of(joint_score)},
                                        {"seeds", {{"contributors", seeds}, {"data", data_seed}, {"joint", joint_seed}}}};
    std::ofstream json(directory / "contributors.json");
    json << result.dump(4) << '\n';
    if (!json.flush()) throw std::runtime_error("cannot write contributors.json");
    std::printf("\nfiles in %s\n", std::filesystem::absolute(directory).lexically_normal().string().c_str());
}

} // namespace

int main(int argc, char** argv) {
    try {
        run(argc > 1 ? argv[1] : ".");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "contributors: %s\n", e.what());
        return 1;
    }
}
