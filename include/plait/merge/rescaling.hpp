#pragma once

#include <plait/core/instruction_set.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

namespace plait {

/// How the kept elements make up for the dropped: not at all; times 1 / density, which keeps the expected value; or so
/// that their sum of magnitudes, their norm or their largest magnitude is what that of the whole tensor was.
enum class rescaling { none, by_density, by_l1, by_l2, by_largest };

namespace detail {

/// The norm that a rescaling keeps. Elements are added up in as many sums as fill the widest vectors, on every machine.
class norm_sum {
public:
    explicit norm_sum(rescaling which) : which_(which) {}

    void add(std::span<const double> numbers) {
        if (which_ == rescaling::by_largest)
            take(numbers, [](double sum, double x) PLAIT_ALWAYS_INLINE { return sum < x ? x : sum; });
        else if (which_ == rescaling::by_l2)
            take(numbers, [](double sum, double x) PLAIT_ALWAYS_INLINE { return sum + x * x; });
        else
            take(numbers, [](double sum, double x) PLAIT_ALWAYS_INLINE { return sum + x; });
    }
    norm_sum& operator+=(const norm_sum& later) {
        for (std::size_t l = 0; l < sums_.size(); ++l)
            sums_[l] = which_ == rescaling::by_largest ? std::max(sums_[l], later.sums_[l]) : sums_[l] + later.sums_[l];
        return *this;
    }
    double norm() const {
        if (which_ == rescaling::by_largest) return std::ranges::max(sums_);
        const double sum = std::accumulate(sums_.begin(), sums_.end(), 0.0);
        return which_ == rescaling::by_l2 ? std::sqrt(sum) : sum;
    }

private:
    template <class Step>
    void take(std::span<const double> numbers, const Step& step) {
        const double* const x = numbers.data();
        const std::size_t n = numbers.size();
        std::array<double, 8> all = sums_;
        with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
            std::array<double, 8> sums = all;
            for (std::size_t e = 0; e + sums.size() <= n; e += sums.size())
                for (std::size_t l = 0; l < sums.size(); ++l) sums[l] = step(sums[l], std::fabs(x[e + l]));
            all = sums;
        });
        for (std::size_t e = n - n % all.size(); e < n; ++e)
            all[e % all.size()] = step(all[e % all.size()], std::fabs(x[e]));
        sums_ = all;
    }

    rescaling which_;
    std::array<double, 8> sums_{};
};

} // namespace detail

} // namespace plait
