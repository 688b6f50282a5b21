#pragma once

// Between the trainer and plait: all that a codebase has to write to hand its networks over.
#include "trainer/network.hpp"

#include <plait/adapters/xtensor.hpp>
#include <plait/model/model_view.hpp>
#include <plait/spec/permutation_spec.hpp>

#include <utility>
#include <vector>

/// The network's own memory, to read from.
inline plait::model_view view_of(const trainer::network& net) {
    std::vector<plait::named_tensor> tensors;
    for (const auto& p : net.parameters()) tensors.push_back({p.name, p.value});
    return plait::model_view(std::move(tensors));
}

/// What both digit examples know of their networks, 64-512-512-10.
inline plait::permutation_spec mlp_spec() {
    return plait::permutation_spec{}
        .tensor("fc1.weight", "h1 _").tensor("fc1.bias", "h1")
        .tensor("fc2.weight", "h2 h1").tensor("fc2.bias", "h2")
        .tensor("out.weight", "_ h2").tensor("out.bias", "_")
        .units("h1", plait::activation::relu).units("h2", plait::activation::relu);
}

/// A network of the same layers with the parameters of a checkpoint.
inline trainer::network with_parameters(trainer::network net, const plait::model_view& checkpoint) {
    for (auto& p : net.parameters()) p.value = plait::as_xtensor(checkpoint.at(p.name).as<const float>());
    return net;
}
