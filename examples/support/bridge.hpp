#pragma once

// Between the trainer and plait: all that a codebase has to write to hand its networks over.
#include "trainer/network.hpp"

#include <plait/adapters/xtensor.hpp>
#include <plait/model/model_view.hpp>

#include <utility>
#include <vector>

/// The network's own memory, to read from.
inline plait::model_view view_of(const trainer::network& net) {
    std::vector<plait::named_tensor> tensors;
    for (const auto& p : net.parameters()) tensors.push_back({p.name, p.value});
    return plait::model_view(std::move(tensors));
}

/// The network's own memory, to write into.
inline plait::mutable_model_view live_view_of(trainer::network& net) {
    std::vector<plait::mutable_named_tensor> tensors;
    for (auto& p : net.parameters()) tensors.push_back({p.name, p.value});
    return plait::mutable_model_view(std::move(tensors));
}

/// A network of the same layers with the parameters of a checkpoint.
inline trainer::network with_parameters(trainer::network net, const plait::model_view& checkpoint) {
    for (auto& p : net.parameters()) p.value = plait::as_xtensor(checkpoint.at(p.name).as<const float>());
    return net;
}
