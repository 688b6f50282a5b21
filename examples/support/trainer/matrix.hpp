#pragma once

#include <xtensor/xtensor.hpp>

namespace trainer {

/// Row-major; one row per sample.
using matrix = xt::xtensor<float, 2>;

} // namespace trainer
