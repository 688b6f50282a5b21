#pragma once

// Small networks with random weights, their specs and their forward passes, for tests.
#include <plait/align/permute.hpp>
#include <plait/core/random.hpp>
#include <plait/model/model.hpp>
#include <plait/permutation/random.hpp>
#include <plait/spec/bind.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace networks {

struct architecture {
    plait::permutation_spec spec;
    std::vector<std::pair<std::string, plait::shape>> tensors;
    std::function<std::vector<double>(const plait::model_view&)> forward; // for inputs fixed by the architecture
};

inline double gaussian(plait::counter_random& random) {
    const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
    return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

inline std::vector<double> values(const plait::any_tensor_view& v) {
    std::vector<double> result(v.size());
    plait::gathered_view(v).read(0, result.size(), result.data());
    return result;
}

inline void assign(const plait::mutable_any_tensor_view& v, const std::vector<double>& numbers) {
    plait::visit_floating(v.type(), [&]<class T>(T) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const auto x = static_cast<T>(numbers[i]);
            std::memcpy(v.bytes() + i * sizeof(T), &x, sizeof(T));
        }
    });
}

enum class scale { unit, by_fan_in };

// Gaussian weights; divided by the root of the fan-in, activations keep their size.
inline plait::model random_model(const architecture& net, std::uint64_t seed, plait::dtype type = plait::dtype::f32,
                                 scale by = scale::by_fan_in) {
    plait::counter_random random(seed);
    plait::model m;
    for (const auto& [name, shape] : net.tensors) {
        std::vector<double> numbers(shape.size());
        const double fan_in = by == scale::by_fan_in && shape.rank() > 1 ? static_cast<double>(shape.size() / shape[0]) : 1;
        for (double& x : numbers) x = gaussian(random) / std::sqrt(fan_in);
        if (name.ends_with("var"))
            for (double& x : numbers) x = 0.5 + std::fabs(x);
        assign(m.add(name, type, shape), numbers);
    }
    return m;
}

// The model plus noise of `share` times each tensor's own standard deviation.
inline plait::model with_noise(const plait::model& m, double share, std::uint64_t seed) {
    plait::counter_random random(seed);
    plait::model result = m;
    for (const auto& [name, view] : result.tensors()) {
        auto numbers = values(view);
        double squares = 0;
        for (double x : numbers) squares += x * x;
        const double deviation = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, numbers.size())));
        for (double& x : numbers) x += share * deviation * gaussian(random);
        assign(view, numbers);
    }
    return result;
}

inline plait::model_map random_order(const std::shared_ptr<const plait::bound_spec>& spec, std::uint64_t seed) {
    plait::counter_random random(seed);
    std::vector<plait::unit_map> maps;
    for (const auto& group : spec->groups()) maps.emplace_back(plait::random_permutation(group.size, random));
    return {spec, std::move(maps)};
}

inline std::shared_ptr<const plait::bound_spec> bound(const architecture& net, const plait::model& m) {
    return std::make_shared<const plait::bound_spec>(plait::bind(net.spec, m));
}

inline bool same_bits(const plait::model_view& a, const plait::model_view& b) {
    return a.tensors().size() == b.tensors().size() && std::ranges::all_of(a.tensors(), [&](const auto& t) {
               const auto& other = b.at(t.name);
               return other.type() == t.view.type() && other.shape() == t.view.shape() &&
                      (t.view.size_bytes() == 0 ||
                       std::memcmp(t.view.bytes(), other.bytes(), t.view.size_bytes()) == 0);
           });
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
}

// y = W x + b, W row-major
inline std::vector<double> affine(const std::vector<double>& w, const std::vector<double>& b,
                                  const std::vector<double>& x) {
    std::vector<double> y = b;
    for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) y[i] += w[i * x.size() + j] * x[j];
    return y;
}
inline void rectify(std::vector<double>& x) {
    for (double& v : x) v = std::max(v, 0.0);
}
inline std::vector<double> some_input(std::size_t n) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(1.0 + 2.5 * static_cast<double>(i));
    return x;
}

// The same network without its biases; its forward pass is left out.
inline architecture without_biases(const architecture& net) {
    architecture result;
    for (const auto& rule : net.spec.tensor_rules())
        if (!rule.name.ends_with("bias")) result.spec.tensor(rule.name, plait::axis_pattern::runtime(rule.axes));
    for (const auto& t : net.tensors)
        if (!t.first.ends_with("bias")) result.tensors.push_back(t);
    return result;
}

/// Linear layers with a ReLU between them: widths 20, 50, 10 are fc1 [50, 20] and fc2 [10, 50].
inline architecture mlp(const std::vector<std::size_t>& widths) {
    architecture net;
    const std::size_t layers = widths.size() - 1;
    for (std::size_t l = 1; l <= layers; ++l) {
        const std::string name = "fc" + std::to_string(l);
        const std::string in = l == 1 ? "_" : "h" + std::to_string(l - 1);
        const std::string out = l == layers ? "_" : "h" + std::to_string(l);
        const std::string axes = out + " " + in;
        net.spec.tensor(name + ".weight", plait::axis_pattern::runtime(axes));
        net.spec.tensor(name + ".bias", plait::axis_pattern::runtime(out));
        if (l != layers) net.spec.units(out, plait::activation::relu);
        net.tensors.emplace_back(name + ".weight", plait::shape{widths[l], widths[l - 1]});
        net.tensors.emplace_back(name + ".bias", plait::shape{widths[l]});
    }
    net.forward = [widths, layers](const plait::model_view& m) {
        auto x = some_input(widths[0]);
        for (std::size_t l = 1; l <= layers; ++l) {
            const std::string name = "fc" + std::to_string(l);
            x = affine(values(m.at(name + ".weight")), values(m.at(name + ".bias")), x);
            if (l != layers) rectify(x);
        }
        return x;
    };
    return net;
}

/// x = in(input); x += down_k(relu(up_k(x))) for every block; out(x). The stream of `width` units is one group.
inline architecture residual(std::size_t width, std::size_t hidden, std::size_t blocks, std::size_t in,
                             std::size_t out) {
    architecture net;
    net.spec.tensor("in.weight", "r _").tensor("in.bias", "r").tensor("out.weight", "_ r").tensor("out.bias", "_");
    net.spec.tensor("block.{k}.up.weight", "h.{k} r").tensor("block.{k}.up.bias", "h.{k}");
    net.spec.tensor("block.{k}.down.weight", "r h.{k}").tensor("block.{k}.down.bias", "r");
    net.spec.units("h.{k}", plait::activation::relu);
    net.tensors = {{"in.weight", {width, in}}, {"in.bias", {width}}, {"out.weight", {out, width}}, {"out.bias", {out}}};
    for (std::size_t k = 0; k < blocks; ++k) {
        const std::string block = "block." + std::to_string(k);
        net.tensors.emplace_back(block + ".up.weight", plait::shape{hidden, width});
        net.tensors.emplace_back(block + ".up.bias", plait::shape{hidden});
        net.tensors.emplace_back(block + ".down.weight", plait::shape{width, hidden});
        net.tensors.emplace_back(block + ".down.bias", plait::shape{width});
    }
    net.forward = [in, blocks](const plait::model_view& m) {
        const auto layer = [&](const std::string& name, const std::vector<double>& x) {
            return affine(values(m.at(name + ".weight")), values(m.at(name + ".bias")), x);
        };
        auto x = layer("in", some_input(in));
        for (std::size_t k = 0; k < blocks; ++k) {
            const std::string block = "block." + std::to_string(k);
            auto h = layer(block + ".up", x);
            rectify(h);
            const auto added = layer(block + ".down", h);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += added[i];
        }
        return layer("out", x);
    };
    return net;
}

/// conv 2-6-k3 on 6 x 6 images, batch norm, ReLU, flatten (channel, y, x), linear 96-10-3 with a ReLU between.
inline architecture convolutional() {
    architecture net;
    net.spec.tensor("conv.weight", "c _ _ _").tensor("conv.bias", "c");
    net.spec.tensor("bn.{what}", "c").fixed("*batches");
    net.spec.tensor("fc1.weight", "h (c _)").tensor("fc1.bias", "h");
    net.spec.tensor("fc2.weight", "_ h").tensor("fc2.bias", "_").units("h", plait::activation::relu);
    net.tensors = {{"conv.weight", {6, 2, 3, 3}}, {"conv.bias", {6}},       {"bn.weight", {6}},
                   {"bn.bias", {6}},              {"bn.running_mean", {6}}, {"bn.running_var", {6}},
                   {"fc1.weight", {10, 96}},      {"fc1.bias", {10}},       {"fc2.weight", {3, 10}},
                   {"fc2.bias", {3}}};
    net.forward = [](const plait::model_view& m) {
        const auto image = some_input(2 * 6 * 6);
        const auto w = values(m.at("conv.weight"));
        const auto b = values(m.at("conv.bias"));
        const auto gain = values(m.at("bn.weight"));
        const auto shift = values(m.at("bn.bias"));
        const auto mean = values(m.at("bn.running_mean"));
        const auto var = values(m.at("bn.running_var"));
        std::vector<double> x;
        for (std::size_t c = 0; c < 6; ++c) {
            for (std::size_t at = 0; at < 16; ++at) {
                double sum = b[c];
                for (std::size_t k = 0; k < 18; ++k)
                    sum += w[c * 18 + k] * image[k / 9 * 36 + (at / 4 + k % 9 / 3) * 6 + at % 4 + k % 3];
                x.push_back(std::max(0.0, (sum - mean[c]) / std::sqrt(var[c]) * gain[c] + shift[c]));
            }
        }
        auto h = affine(values(m.at("fc1.weight")), values(m.at("fc1.bias")), x);
        rectify(h);
        return affine(values(m.at("fc2.weight")), values(m.at("fc2.bias")), h);
    };
    return net;
}

} // namespace networks
