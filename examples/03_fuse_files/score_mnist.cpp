// Accuracy and loss of checkpoints of the MNIST network on test images:  score_mnist IMAGES LABELS CHECKPOINT ...
#include "bridge.hpp"
#include "trainer/evaluate.hpp"
#include "trainer/mnist.hpp"
#include "trainer/models.hpp"

#include <plait/io/io.hpp>
#include <plait/model/model_view.hpp>

#include <cstdio>
#include <exception>
#include <stdexcept>

int main(int argc, char** argv) {
    try {
        if (argc < 4) throw std::invalid_argument("usage: score_mnist IMAGES LABELS CHECKPOINT ...");
        const auto test = trainer::load_mnist(argv[1], argv[2]);
        for (int i = 3; i < argc; ++i) {
            const auto net = with_parameters(trainer::mnist_cnn(), plait::io::open(argv[i]));
            const auto score = trainer::evaluate(net, test);
            std::printf("%s accuracy %.4f loss %.4f\n", argv[i], score.accuracy, score.loss);
        }
    } catch (const std::exception& e) {
        std::fprintf(stderr, "score_mnist: %s\n", e.what());
        return 1;
    }
}
