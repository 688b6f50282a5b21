#pragma once

#include <plait/merge/sparsify.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace plait {
namespace detail {

/// Elements that belong to one output unit: of an axis 0 apart, all others together. A vector is one row.
inline std::size_t row_length(const shape& s) {
    return s.rank() < 2 || s[0] == 0 ? std::max<std::size_t>(1, s.size()) : std::max<std::size_t>(1, s.size() / s[0]);
}

/// order[r] is the position of the r-th smallest magnitude of a row, of equal ones the first. Unless wide,
/// magnitudes are compared as floats, by a radix sort.
class magnitude_order {
public:
    explicit magnitude_order(bool is_wide) : is_wide_(is_wide) {}

    template <std::floating_point F>
    std::span<const std::uint32_t> of(std::span<const F> row) {
        return is_wide_ ? compared(row) : by_digits(row);
    }

private:
    template <std::floating_point F>
    std::span<const std::uint32_t> by_digits(std::span<const F> row) {
        keys_.resize(row.size());
        for (std::size_t e = 0; e < row.size(); ++e)
            keys_[e] = std::bit_cast<std::uint32_t>(std::fabs(static_cast<float>(row[e])));
        start(row.size());
        constexpr unsigned bits = 11;
        for (unsigned shift = 0; shift < 32; shift += bits) {
            std::array<std::uint32_t, (1U << bits) + 1> first{};
            const auto digit = [&](std::uint32_t e) { return (keys_[e] >> shift) & ((1U << bits) - 1); };
            for (std::uint32_t e = 0; e < order_.size(); ++e) ++first[digit(e) + 1];
            std::partial_sum(first.begin(), first.end(), first.begin());
            for (const std::uint32_t e : order_) other_[first[digit(e)]++] = e;
            order_.swap(other_);
        }
        return order_;
    }
    template <std::floating_point F>
    std::span<const std::uint32_t> compared(std::span<const F> row) {
        start(row.size());
        std::ranges::stable_sort(order_, {}, [&](std::uint32_t e) { return std::fabs(row[e]); });
        return order_;
    }

    void start(std::size_t n) {
        if (n > std::size_t{~std::uint32_t{0}})
            throw shape_error("a row has " + std::to_string(n) + " elements, expected fewer than 2^32 to rank");
        order_.resize(n);
        other_.resize(n);
        std::iota(order_.begin(), order_.end(), 0U);
    }

    bool is_wide_;
    std::vector<std::uint32_t> keys_, order_, other_;
};

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
            detail::magnitude_order order(is_wide_);
            for (std::size_t first = 0; first < out.size(); first += row_) {
                const auto row = b.values[model].subspan(at + first, row_);
                const auto ranked = order.of(std::span<const F>(row));
                for (std::size_t r = 0; r < row_; ++r) {
                    const std::size_t e = ranked[r];
                    const double rank = row_ > 1 ? static_cast<double>(r) / static_cast<double>(row_ - 1) : 0.5;
                    const double p = lowest_ + range_ * rank;
                    const auto x = static_cast<double>(row[e]);
                    out[first + e] = chance_.keeps(model, b.first + at + first + e, p) ? (divides_ ? x / p : x) : 0;
                }
            }
        }

    private:
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
