#pragma once

#include <plait/merge/contributions.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

/// Per element the mean of what is left when the floor(beta N) smallest and as many largest are dropped. A minority of
/// careless or hostile contributors of that size cannot move it far. Throws value_error that names a
/// contribution with NaN or infinity, or a copy of another.   Source: Yin et al. 2018.
struct trimmed_mean {
    double beta = 0.1; ///< below .5

    static constexpr std::string_view name = "trimmed_mean";
    struct run {
        std::size_t dropped; ///< at each end

        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            std::vector<F> sorted(b.values.size());
            for (std::size_t e = 0; e < out.size(); ++e) {
                for (std::size_t k = 0; k < sorted.size(); ++k) sorted[k] = b.values[k][e];
                std::ranges::sort(sorted);
                double sum = 0;
                for (std::size_t k = dropped; k < sorted.size() - dropped; ++k) sum += static_cast<double>(sorted[k]);
                out[e] = sum / static_cast<double>(sorted.size() - 2 * dropped);
            }
        }
    };
    detail::contributions survey(const model_context& context) const { return detail::contributions(context); }
    run start(const tensor_context& context, const detail::contributions&) const {
        if (!(beta >= 0 && beta < 0.5))
            throw option_error("beta of trimmed_mean is " + std::to_string(beta)
                               + ", expected 0 or more and below 0.5");
        // 0.29 * 100 is a little less than 29 in binary.
        const auto dropped = static_cast<std::size_t>(beta * static_cast<double>(context.models) + 1e-9);
        return {std::min(dropped, (context.models - 1) / 2)};
    }
};

} // namespace plait
