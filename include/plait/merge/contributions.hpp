#pragma once

#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plait::detail {

[[noreturn]] inline void refuse_twins(std::size_t first, std::size_t second) {
    throw value_error("the model is the same as model " + std::to_string(first)
                          + ", expected contributions that differ: copies of one would outvote the others",
                      {.model = second});
}

/// Looks at all contributions before any of them counts: refuses, by name, those that are not finite and those that are
/// copies of another, and knows the norm of each. One pass.
class contributions {
public:
    struct partial_type {
        std::vector<double> squares;
        std::vector<std::uint64_t> hashes; // two per model
        std::vector<bool> finite;
        bool is_base_finite = true;

        partial_type& operator+=(const partial_type& later) {
            for (std::size_t k = 0; k < squares.size(); ++k) {
                squares[k] += later.squares[k];
                finite[k] = finite[k] && later.finite[k];
            }
            for (std::size_t h = 0; h < hashes.size(); ++h) hashes[h] += later.hashes[h];
            is_base_finite = is_base_finite && later.is_base_finite;
            return *this;
        }
    };

    explicit contributions(const model_context& context)
        : models_(context.models), norms_(models_), is_settled_(context.elements == 0) {}

    bool is_settled() const { return is_settled_; }
    partial_type partial() const {
        return {std::vector<double>(models_), std::vector<std::uint64_t>(2 * models_),
                std::vector<bool>(models_, true)};
    }
    template <std::floating_point F>
    void observe(const block<F>& b, partial_type& p) const {
        p.is_base_finite = p.is_base_finite && std::ranges::all_of(b.base, [](F x) { return std::isfinite(x); });
        for (std::size_t k = 0; k < models_; ++k) {
            double sum = 0;
            std::uint64_t hash = 0;
            std::uint64_t other = 0;
            bool finite = true;
            for (std::size_t e = 0; e < b.size(); ++e) {
                const auto x = static_cast<double>(b.values[k][e]);
                finite = finite && std::isfinite(x);
                sum += x * x;
                const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) ^ ((b.first + e) * 0x9E3779B97F4A7C15ULL);
                const std::uint64_t mixed = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9ULL;
                hash += mixed ^ (mixed >> 32);
                other += (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
            }
            p.squares[k] += sum;
            p.hashes[2 * k] += hash;
            p.hashes[2 * k + 1] += other;
            p.finite[k] = p.finite[k] && finite;
        }
    }
    void settle(const partial_type& whole) {
        if (!whole.is_base_finite)
            throw value_error("the base has NaN or infinity among its weights, expected finite numbers");
        using entry = std::pair<std::pair<std::uint64_t, std::uint64_t>, std::size_t>;
        std::vector<entry> seen;
        for (std::size_t k = 0; k < models_; ++k) {
            if (!whole.finite[k])
                throw value_error("the model has NaN or infinity among its weights, expected finite numbers",
                                  {.model = k});
            norms_[k] = std::sqrt(whole.squares[k]);
            if (!(norms_[k] < 1e150))
                throw value_error("the norm of the model's weights is " + std::to_string(norms_[k])
                                      + ", expected less than 1e150, so that distances are finite",
                                  {.model = k});
            seen.push_back({{whole.hashes[2 * k], whole.hashes[2 * k + 1]}, k});
        }
        std::ranges::sort(seen);
        for (std::size_t i = 1; i < seen.size(); ++i)
            if (seen[i].first == seen[i - 1].first) refuse_twins(seen[i - 1].second, seen[i].second);
        is_settled_ = true;
    }

    /// Of model k, over all merged tensors.
    const std::vector<double>& norms() const { return norms_; }

private:
    std::size_t models_;
    std::vector<double> norms_;
    bool is_settled_;
};

/// The squared distances between contributions, over all merged tensors, summed in double from differences. Refuses
/// contributions as contributions does. One pass. Complexity: O(N^2) per element.
class contribution_distances {
public:
    struct partial_type {
        contributions::partial_type each;
        std::vector<double> squares; // lower triangle
        partial_type& operator+=(const partial_type& later) {
            each += later.each;
            for (std::size_t i = 0; i < squares.size(); ++i) squares[i] += later.squares[i];
            return *this;
        }
    };

    explicit contribution_distances(const model_context& context)
        : models_(context.models), each_(context), squares_(models_ * models_) {}

    bool is_settled() const { return each_.is_settled(); }
    partial_type partial() const { return {each_.partial(), std::vector<double>(models_ * (models_ - 1) / 2)}; }
    template <std::floating_point F>
    void observe(const block<F>& b, partial_type& p) const {
        each_.observe(b, p.each);
        std::size_t pair = 0;
        for (std::size_t i = 1; i < models_; ++i) {
            for (std::size_t j = 0; j < i; ++j, ++pair) {
                const F* x = b.values[i].data();
                const F* y = b.values[j].data();
                double sums[4] = {};
                for (std::size_t e = 0; e < b.size(); ++e) {
                    const double d = static_cast<double>(x[e]) - static_cast<double>(y[e]);
                    sums[e % 4] += d * d;
                }
                p.squares[pair] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
            }
        }
    }
    void settle(const partial_type& whole) {
        std::size_t pair = 0;
        for (std::size_t i = 1; i < models_; ++i)
            for (std::size_t j = 0; j < i; ++j, ++pair)
                squares_[i * models_ + j] = squares_[j * models_ + i] = whole.squares[pair];
        each_.settle(whole.each);
    }

    std::size_t models() const { return models_; }
    double squared(std::size_t i, std::size_t j) const { return squares_[i * models_ + j]; }

private:
    std::size_t models_;
    contributions each_;
    std::vector<double> squares_;
};

} // namespace plait::detail
