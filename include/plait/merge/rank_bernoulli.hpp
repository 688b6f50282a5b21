#pragma once

#include <plait/core/scratch.hpp>
#include <plait/merge/magnitude_order.hpp>
#include <plait/merge/sparsify.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plait {
namespace detail {

/// Elements that belong to one output unit: of an axis 0 apart, all others together. A vector is one row.
inline std::size_t row_length(const shape& s) {
    return s.rank() < 2 || s[0] == 0 ? std::max<std::size_t>(1, s.size()) : std::max<std::size_t>(1, s.size() / s[0]);
}

} // namespace detail

/// Keeps each element with a probability that grows with the rank of its magnitude in its row (what one unit reads):
/// linearly from density - epsilon for the smallest to density + epsilon for the largest; a row of one element has
/// `density`. Density 0 and 1 keep nothing and everything. Chance as in bernoulli.   Source: Deep et al. 2024.
struct rank_bernoulli {
    double density = 1;
    double epsilon = 0.15;
    std::uint64_t seed = 0;
    mask_function keep_mask = {};
    bool divide_by_probability = false; ///< what is kept, each by its own: keeps the expected value

    class run {
    public:
        run(const rank_bernoulli& r, const tensor_context& context)
            : lowest_(r.density - r.epsilon),
              range_(2 * r.epsilon),
              density_(r.density),
              divides_(r.divide_by_probability),
              is_wide_(context.is_wide),
              row_(detail::row_length(context.shape)),
              chance_(r.seed, r.keep_mask, context) {}

        std::size_t elements_together() const { return density_ > 0 && density_ < 1 ? row_ : 1; }

        template <std::floating_point F>
        void apply(const block<F>& b, std::size_t model, std::size_t at, std::span<double> out) const {
            if (density_ <= 0 || density_ >= 1) {
                for (std::size_t e = 0; e < out.size(); ++e)
                    out[e] = density_ > 0 ? static_cast<double>(b.values[model][at + e]) : 0;
                return;
            }
            detail::magnitude_order order(row_, is_wide_);
            detail::scratch limits_memory, factors_memory, draws_memory;
            auto* const limits = limits_memory.of<std::int32_t>(row_);
            auto* const factors = factors_memory.of<double>(row_);
            auto* const draws = draws_memory.of<std::int32_t>(row_);
            fill_by_rank(limits, factors);
            for (std::size_t first = 0; first < out.size(); first += row_) {
                const auto row = b.values[model].subspan(at + first, row_);
                const auto ranked = order.of(std::span<const F>(row));
                chance_.draw(model, b.first + at + first, {draws, row_});
                double* const kept = &out[first];
                for (std::size_t r = 0; r < row_; ++r) {
                    const auto e = static_cast<std::uint32_t>(ranked[r]);
                    const double x = static_cast<double>(row[e]) * factors[r];
                    // No branch: it would be mispredicted half the time.
                    const std::uint64_t mask = draws[e] < limits[r] ? ~std::uint64_t{0} : 0;
                    kept[e] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & mask);
                }
            }
        }

    private:
        void fill_by_rank(std::int32_t* limits, double* factors) const {
            const std::size_t n = row_;
            const double lowest = row_ > 1 ? lowest_ : density_;
            const double step = row_ > 1 ? range_ / static_cast<double>(row_ - 1) : 0;
            const bool divides = divides_;
            detail::with_widest_vectors([=]() PLAIT_ALWAYS_INLINE {
                for (std::size_t r = 0; r < n; ++r) {
                    const double p = lowest + step * static_cast<double>(static_cast<std::int32_t>(r));
                    limits[r] = detail::element_chance::limit(p);
                    factors[r] = divides ? 1 / p : 1;
                }
            });
        }

        double lowest_, range_, density_;
        bool divides_, is_wide_;
        std::size_t row_;
        detail::element_chance chance_;
    };

    run start(const tensor_context& context) const {
        detail::check_share("the density of rank_bernoulli", density);
        const bool is_sure = density == 0 || density == 1;
        if (!is_sure && !(epsilon >= 0 && density - epsilon > 0 && density + epsilon < 1))
            throw option_error("density - epsilon and density + epsilon are " + std::to_string(density - epsilon)
                               + " and " + std::to_string(density + epsilon) + ", expected numbers between 0 and 1");
        return {*this, context};
    }
};

} // namespace plait
