#pragma once

#include <plait/core/arithmetic_avx2.hpp>
#include <plait/core/convert.hpp>
#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace plait::detail {

/// Halves of more models are added up in double: the errors of float sums grow with their number.
inline constexpr double most_float_models = 256;

/// Whether sums of halves times these factors, times or divided by `scale`, keep their precision in float.
inline bool sums_fit_float(std::span<const double> factors, double scale) {
    const auto is_moderate = [](double x) { return x == 0 || (std::fabs(x) > 1e-9 && std::fabs(x) < 1e9); };
    return static_cast<double>(factors.size()) <= most_float_models && is_moderate(scale)
           && std::ranges::all_of(factors, is_moderate);
}

/// sum(c_k x_k) / divisor: the run of methods that need no more, of which the engine makes one pass over memory.
class linear_combination {
public:
    explicit linear_combination(std::vector<double> coefficients, double divisor = 1)
        : coefficients_(std::move(coefficients)),
          divisor_(divisor),
          factor_(1 / divisor),
          divides_(!is_power_of_two(divisor)),
          fits_float_(fits_float(coefficients_, divisor)) {}

    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        constexpr std::size_t tile = 1024; // sums stay in the nearest cache while the models stream past
        for (std::size_t first = 0; first < out.size(); first += tile) {
            const auto sum = out.subspan(first, std::min(tile, out.size() - first));
            with_widest_vectors([&]() PLAIT_ALWAYS_INLINE {
                for (std::size_t k = 0; k < b.values.size(); ++k) {
                    const F* x = b.values[k].data() + first;
                    const double c = coefficients_[k];
                    if (k == 0)
                        for (std::size_t e = 0; e < sum.size(); ++e) sum[e] = c * static_cast<double>(x[e]);
                    else
                        for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += c * static_cast<double>(x[e]);
                }
                if (divides_)
                    for (double& s : sum) s /= divisor_;
                else
                    for (double& s : sum) s *= factor_;
            });
        }
    }

    /// The same of elements as they lie in memory. Halves of few models are added up in float, whose errors are far
    /// below theirs, everything else in double; the result is rounded once.
    bool combine_raw(const raw_block& b, std::byte* out) const {
        visit_floating(b.type, [&]<class T>(T) {
            if constexpr (sizeof(T) <= 2)
                if (fits_float_) return combine_in<float, T>(b.models, b.base, b.count, out);
            if constexpr (sizeof(T) <= 4) combine_in<double, T>(b.models, b.base, b.count, out);
        });
        return true;
    }

private:
    static constexpr std::size_t pair = 16; // elements of two steps

    // Multiplying by the reciprocal is exact for powers of two, and several times faster.
    static bool is_power_of_two(double x) {
        int exponent = 0;
        return std::frexp(x, &exponent) == 0.5 && exponent > -1000 && exponent < 1000;
    }

    // Whether the error of a float sum of so many halves stays far below theirs: no coefficients that all but cancel.
    static bool fits_float(const std::vector<double>& coefficients, double divisor) {
        double total = 0;
        for (const double c : coefficients) total += std::fabs(c);
        return sums_fit_float(coefficients, divisor) && total <= most_float_models * std::fabs(divisor);
    }

    template <class Sum, class T>
    void combine_in(std::span<const std::byte* const> models, const std::byte* base, std::size_t count,
                    std::byte* out) const {
        std::size_t i = 0;
#if PLAIT_HAS_AVX2_FUNCTIONS
        if constexpr (avx2::can_convert<T>) {
            using step_sum = avx2::step_of<Sum>;
            while (has_avx2() && count - i >= pair) {
                i = base ? combine_steps<step_sum, T, true>(models, base, i, count, out)
                         : combine_steps<step_sum, T, false>(models, base, i, count, out);
                // It ends early where an element is to be rounded on its own.
                for (std::size_t left = pair; left > 0 && i < count; --left, ++i)
                    combine_element<Sum, T>(models, base, i, out);
            }
        }
#endif
        for (; i < count; ++i) combine_element<Sum, T>(models, base, i, out);
    }

    template <class Sum, class T>
    void combine_element(std::span<const std::byte* const> models, const std::byte* base, std::size_t i,
                         std::byte* out) const {
        const auto load = [i](const std::byte* from) { return static_cast<Sum>(load_as<T>(from + i * sizeof(T))); };
        const Sum from = base ? load(base) : 0;
        Sum sum = 0;
        for (std::size_t k = 0; k < models.size(); ++k) {
            const Sum part = static_cast<Sum>(coefficients_[k]) * (base ? load(models[k]) - from : load(models[k]));
            sum = k == 0 ? part : sum + part;
        }
        sum = divides_ ? sum / static_cast<Sum>(divisor_) : sum * static_cast<Sum>(factor_);
        if (base) sum += from;
        if constexpr (std::same_as<Sum, float>)
            if (!std::isfinite(sum)) return combine_element<double, T>(models, base, i, out); // perhaps in float alone
        store_as<T>(sum, out + i * sizeof(T));
    }

#if PLAIT_HAS_AVX2_FUNCTIONS
    // A model's step, minus the base's, times its coefficient.
    template <class Sum, class T, bool HasBase>
    PLAIT_AVX2_STEP static Sum part_of(const std::byte* model, const Sum& base, const Sum& coefficient) {
        Sum x;
        avx2::load(model, x, T{});
        if constexpr (HasBase) x = avx2::subtract(x, base);
        return avx2::multiply(coefficient, x);
    }

    template <class Sum, class T, bool HasBase>
    PLAIT_AVX2_STEP static bool store_sum(Sum sum, const Sum& base, const Sum& scale, bool divides, std::byte* out) {
        sum = divides ? avx2::divide(sum, scale) : avx2::multiply(sum, scale);
        if constexpr (HasBase) sum = avx2::add(sum, base);
        return avx2::store(sum, out, T{});
    }

    // As combine_in() from element i on, up to a pair of steps in which an element has to be rounded on its own;
    // returns where that is.
    template <class Sum, class T, bool HasBase>
    PLAIT_AVX2_FUNCTION std::size_t combine_steps(std::span<const std::byte* const> models, const std::byte* base,
                                                  std::size_t i, std::size_t count, std::byte* out) const {
        constexpr std::size_t width = avx2::step * sizeof(T);
        const bool divides = divides_;
        const double* const coefficients = coefficients_.data();
        const std::byte* const* const model = models.data();
        const std::size_t last = models.size();
        Sum scale, coefficient;
        avx2::fill(scale, divides ? divisor_ : factor_);
        for (; i + pair <= count; i += pair) {
            const std::size_t at = i * sizeof(T);
            Sum from, next_from;
            if constexpr (HasBase) {
                avx2::load(base + at, from, T{});
                avx2::load(base + at + width, next_from, T{});
            }
            avx2::fill(coefficient, coefficients[0]);
            Sum sum = part_of<Sum, T, HasBase>(model[0] + at, from, coefficient);
            Sum next = part_of<Sum, T, HasBase>(model[0] + at + width, next_from, coefficient);
            for (std::size_t k = 1; k < last; ++k) {
                avx2::fill(coefficient, coefficients[k]);
                sum = avx2::add(sum, part_of<Sum, T, HasBase>(model[k] + at, from, coefficient));
                next = avx2::add(next, part_of<Sum, T, HasBase>(model[k] + at + width, next_from, coefficient));
            }
            const bool is_stored = store_sum<Sum, T, HasBase>(sum, from, scale, divides, out + at);
            if (!store_sum<Sum, T, HasBase>(next, next_from, scale, divides, out + at + width) || !is_stored) break;
        }
        return i;
    }
#endif

    std::vector<double> coefficients_;
    double divisor_;
    double factor_; // 1 / divisor
    bool divides_;
    bool fits_float_;
};

} // namespace plait::detail
