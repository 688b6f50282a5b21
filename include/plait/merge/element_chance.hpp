#pragma once

#include <plait/core/random.hpp>
#include <plait/core/scratch.hpp>
#include <plait/merge/merge_method.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait {

/// Decides in the place of chance which elements are kept: (model, tensor, element). Called from several threads; not
/// asked where density is 0 or 1.
using mask_function = std::function<bool(std::size_t, std::string_view, std::size_t)>;

namespace detail {

/// Which elements of a tensor are kept with a probability: that depends on the seed, the position of the model, the
/// name of the tensor and the position of the element, and on nothing else.
class element_chance {
public:
    element_chance(std::uint64_t seed, const mask_function& mask, const tensor_context& context) {
        if (mask)
            mask_ = [mask, tensor = std::string(context.name)](std::size_t model, std::size_t element) {
                return mask(model, tensor, element);
            };
        std::uint64_t key = seed;
        for (const char c : context.name) key = counter_random(key).at(static_cast<unsigned char>(c));
        for (std::size_t k = 0; k < context.models; ++k) chance_.emplace_back(counter_random(key).at(k));
    }

    /// An element is kept where its draw is below this. A probability between 0 and 1, both excluded, is rounded to a
    /// multiple of 2^-32, but to neither 0 nor 1.
    PLAIT_ALWAYS_INLINE static std::int32_t limit(double probability) {
        constexpr double least = std::numeric_limits<std::int32_t>::min();
        constexpr double most = std::numeric_limits<std::int32_t>::max();
        const double x = probability * 0x1p32 + least;
        return static_cast<std::int32_t>(x < least + 1 ? least + 1 : x > most ? most : x);
    }

    /// The draws of elements [first, first + out.size()) of a model: each is half a random number.
    void draw(std::size_t model, std::size_t first, std::span<std::int32_t> out) const {
        if (mask_) {
            using range = std::numeric_limits<std::int32_t>;
            for (std::size_t e = 0; e < out.size(); ++e) out[e] = mask_(model, first + e) ? range::min() : range::max();
            return;
        }
        const std::size_t count = out.size() / 2 + 1;
        scratch memory;
        const std::span pairs(memory.of<std::uint64_t>(count), count);
        chance_[model].at(first / 2, pairs);
        const std::size_t skipped = first % 2;
        for (std::size_t e = 0; e < out.size(); ++e) {
            const std::size_t half = e + skipped;
            out[e] = static_cast<std::int32_t>(static_cast<std::uint32_t>(pairs[half / 2] >> (half % 2 * 32)));
        }
    }

private:
    std::vector<counter_random> chance_; // per model
    std::function<bool(std::size_t, std::size_t)> mask_;
};

} // namespace detail
} // namespace plait
