// What different methods make of two networks that strangers trained, over a range of scales, on the MNIST test images:
//   scales IMAGES LABELS MNIST_A FASHION_A MNIST_B [HOW_MANY_IMAGES]
// MNIST_A and FASHION_A began with the same weights, which nobody kept: the task vector is that from MNIST_A to the other
// network. MNIST_B began elsewhere; it is merged as it is, and aligned first.
#include "bridge.hpp"
#include "trainer/evaluate.hpp"
#include "trainer/mnist.hpp"
#include "trainer/models.hpp"

#include <plait/io/io.hpp>
#include <plait/plait.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

plait::permutation_spec cnn_spec() {
    return plait::permutation_spec{}
        .tensor("conv1.weight", "c1 _ _ _").tensor("conv1.bias", "c1")
        .tensor("conv2.weight", "c2 c1 _ _").tensor("conv2.bias", "c2")
        .tensor("fc1.weight", "h (c2 _)").tensor("fc1.bias", "h")
        .tensor("fc2.weight", "_ h").tensor("fc2.bias", "_")
        .units("c1", plait::activation::relu).units("c2", plait::activation::relu).units("h", plait::activation::relu);
}

void run(char** files, std::size_t images) {
    const auto all = trainer::load_mnist(files[0], files[1]);
    std::vector<std::size_t> rows(std::min(images, all.size()));
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    const auto test = trainer::select(all, rows);
    const auto net = trainer::mnist_cnn();
    const auto a = plait::io::open(files[2]);
    const auto fashion = plait::io::open(files[3]);
    const auto b = plait::io::open(files[4]);
    const auto score = [&](const plait::model_view& m) {
        return trainer::evaluate(with_parameters(net, m), test).accuracy;
    };
    const auto show = [&](const char* title, const plait::model_view& other, const auto& align) {
        std::printf("\n%s\n%-6s %9s %16s %9s %9s\n", title, "scale", "average", "task_arithmetic", "ties", "dare");
        for (const double scale : {0., .1, .2, .3, .4, .5, .6, .8, 1.}) {
            const std::vector<plait::model_view> both{a, other}, one{other};
            const auto fused = [&](const auto& method) { return score(fuse(one, align(method))); };
            std::printf("%-6.1f %9.4f %16.4f %9.4f %9.4f\n", scale,
                        score(fuse(both, align(plait::average{.weights = {1 - scale, scale}}))),
                        fused(plait::task_arithmetic{.lambda = scale}),
                        fused(plait::ties{.density = .5, .lambda = scale}),
                        fused(plait::dare{.density = .5, .lambda = scale}));
        }
    };
    const auto as_it_is = [&]<class Method>(const Method& method) {
        if constexpr (plait::wants_deltas<Method>)
            return plait::task_vectors{a} | method;
        else
            return method;
    };
    const auto aligned = [&]<class Method>(const Method& method) {
        const plait::weight_matching match{cnn_spec(), {.balance = true}};
        if constexpr (plait::wants_deltas<Method>)
            return match | plait::task_vectors{a} | method;
        else
            return match | method;
    };
    show("MNIST a and fashion a, from the same beginning", fashion, as_it_is);
    show("MNIST a and MNIST b, as it is", b, as_it_is);
    show("MNIST a and MNIST b, aligned", b, aligned);
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 6 && argc != 7)
            throw std::invalid_argument("usage: scales IMAGES LABELS MNIST_A FASHION_A MNIST_B [HOW_MANY_IMAGES]");
        run(argv + 1, argc == 7 ? std::stoul(argv[6]) : 10000);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "scales: %s\n", e.what());
        return 1;
    }
}
