#include "trainer/train.hpp"

#include "trainer/gradient.hpp"
#include "trainer/random.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace trainer {

namespace {

class adam {
public:
    adam(float learning_rate, float weight_decay)
        : learning_rate_(learning_rate), weight_decay_(weight_decay) {}

    void update(std::vector<parameter>& parameters,
                const std::vector<xt::xarray<float>>& gradients) {
        moments_.resize(parameters.size());
        ++steps_;
        const auto t = static_cast<float>(steps_);
        const float mean_scale = learning_rate_ / (1.0F - std::pow(mean_decay, t));
        const float square_scale = 1.0F / std::sqrt(1.0F - std::pow(square_decay, t));

        for (std::size_t p = 0; p < parameters.size(); ++p) {
            const std::size_t size = parameters[p].value.size();
            moments_[p].mean.resize(size);
            moments_[p].square.resize(size);
            float* const value = parameters[p].value.data();
            float* const mean = moments_[p].mean.data();
            float* const square = moments_[p].square.data();
            const float* const gradient = gradients[p].data();
            for (std::size_t i = 0; i < size; ++i) {
                const float g = gradient[i] + weight_decay_ * value[i];
                mean[i] = mean_decay * mean[i] + (1.0F - mean_decay) * g;
                square[i] = square_decay * square[i] + (1.0F - square_decay) * g * g;
                value[i] -= mean_scale * mean[i] / (std::sqrt(square[i]) * square_scale + tiny);
            }
        }
    }

private:
    static constexpr float mean_decay = 0.9F;
    static constexpr float square_decay = 0.999F;
    static constexpr float tiny = 1e-8F;

    struct moments {
        std::vector<float> mean;
        std::vector<float> square;
    };

    float learning_rate_;
    float weight_decay_;
    std::size_t steps_ = 0;
    std::vector<moments> moments_;
};

/// Deals full batches from a random order of the rows; a pass ends when no full batch is left.
/// no one.
class batch_source {
public:
    batch_source(std::size_t rows, std::size_t batch, std::uint64_t seed)
        : random_(seed), order_(rows), batch_(std::min(batch, rows)), next_(rows) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    std::span<const std::size_t> next() {
        if (next_ + batch_ > order_.size()) {
            random_.shuffle(std::span(order_));
            next_ = 0;
        }
        const auto rows = std::span<const std::size_t>(order_).subspan(next_, batch_);
        next_ += batch_;
        return rows;
    }

private:
    random_source random_;
    std::vector<std::size_t> order_;
    std::size_t batch_;
    std::size_t next_;
};

} // namespace

void train(network& net, const dataset& data, const train_options& options) {
    if (data.size() == 0 || options.batch == 0)
        throw std::invalid_argument("train: there must be at least one sample, also in a batch");
    batch_source batches(data.size(), options.batch, options.seed);
    adam optimiser(options.learning_rate, options.weight_decay);
    for (std::size_t step = 1; step <= options.steps; ++step) {
        const loss_gradient result = backpropagate(net, select(data, batches.next()));
        optimiser.update(net.parameters(), result.gradients);
        if (options.on_step) options.on_step(step, result.loss);
    }
}

} // namespace trainer
