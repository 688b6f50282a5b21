#pragma once

#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <vector>

namespace plait::detail {

/// out = sum(c_k x_k) over elements [at, at + out.size()) of a block.
template <std::floating_point F>
void weighted_sum(const block<F>& b, std::span<const double> c, std::size_t at, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    for (std::size_t k = 0; k < b.values.size(); ++k) {
        const F* x = b.values[k].data() + at;
        for (std::size_t e = 0; e < out.size(); ++e) out[e] += c[k] * static_cast<double>(x[e]);
    }
}

/// The run of methods whose survey finds one coefficient per model, for all tensors.
class weighted_sum_run {
public:
    /// They are read once the survey has settled.
    explicit weighted_sum_run(const std::vector<double>& coefficients) : coefficients_(coefficients) {}
    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        weighted_sum(b, coefficients_, 0, out);
    }

private:
    const std::vector<double>& coefficients_;
};

} // namespace plait::detail
