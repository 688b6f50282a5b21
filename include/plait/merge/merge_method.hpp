#pragma once

#include <plait/core/shape.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace plait {

/// What a method is told about a tensor before its blocks come.
struct tensor_context {
    std::string_view name;
    plait::shape shape;
    std::size_t models = 0;
    bool is_wide = false; ///< some model or the base holds doubles
};

/// The same range of elements of every model, aligned and widened; with task vectors, minus the base.
template <std::floating_point F>
struct block {
    std::size_t first;                          ///< position of the first element in the row-major tensor
    std::span<const std::span<const F>> values; ///< one span per model, all of one length
    std::span<const F> base = {};               ///< the base's elements; empty without task vectors

    std::size_t size() const { return values.empty() ? 0 : values[0].size(); }
};

/// The state of a method for one tensor: combine() writes one result per element. It is called from several threads.
template <class R>
concept tensor_run = requires(const R& run, block<float> f, block<double> d, std::span<double> out) {
    run.combine(f, out);
    run.combine(d, out);
};

/// A run that looks at the whole tensor before it combines, as often as it has to: until is_settled(), the engine takes
/// an empty partial(), has every block observed into partials of its own, adds these up in the order of the blocks, and
/// hands the sum to settle(). observe() is called from several threads.
template <class R>
concept observing_run = tensor_run<R> && requires(R& run, const R& seen, typename R::partial_type& p, block<float> f,
                                                  block<double> d) {
    { seen.is_settled() } -> std::same_as<bool>;
    { seen.partial() } -> std::same_as<typename R::partial_type>;
    seen.observe(f, p);
    seen.observe(d, p);
    p += std::as_const(p);
    run.settle(std::as_const(p));
};

/// Arithmetic on blocks of numbers: start(context) checks the options against the number of models and returns the run
/// of one tensor. A method knows nothing of files, element types, threads or permutations. See average.hpp.
template <class M>
concept merge_method = std::copy_constructible<M> && requires(const M& method, const tensor_context& context) {
    { M::name } -> std::convertible_to<std::string_view>;
    { method.start(context) } -> tensor_run;
};

/// Methods that merge task vectors say so: static constexpr bool needs_deltas = true.
template <class M>
concept wants_deltas = requires {
    requires M::needs_deltas;
};

/// What becomes of tensors that are not floating point when they differ between the models. A method may offer the
/// choice as a member `integers`; without one they must be equal.
enum class integer_policy { must_be_equal, take_first };

} // namespace plait
