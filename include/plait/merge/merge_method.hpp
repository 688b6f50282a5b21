#pragma once

#include <plait/core/dtype.hpp>
#include <plait/core/shape.hpp>
#include <plait/merge/describe.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace plait {

/// What a method is told about a tensor before its blocks come.
struct tensor_context {
    std::string_view name;
    plait::shape shape;
    std::size_t models = 0;
    bool is_wide = false;   ///< some model or the base holds doubles
    std::size_t offset = 0; ///< of its elements among those of all merged tensors, which stand in the order of names
    dtype type = dtype::f32;  ///< of the first model's elements
    bool as_mergekit = false; ///< whether to compute what compat::mergekit promises
};

/// What a method is told about the models before it starts on tensors.
struct model_context {
    std::size_t models = 0;
    std::size_t elements = 0;                     ///< of all merged tensors together
    bool is_wide = false;                         ///< some model or the base holds doubles
    std::span<const std::string_view> names = {}; ///< of all merged tensors, in order
};

/// The same range of elements of every model, aligned and widened; with task vectors, minus the base.
template <std::floating_point F>
struct block {
    std::size_t first;                          ///< position of the first element in the row-major tensor
    std::span<const std::span<const F>> values; ///< one span per model, all of one length
    std::span<const F> base = {};               ///< the base's elements; empty without task vectors

    std::size_t size() const { return values.empty() ? 0 : values[0].size(); }
};

/// The same range of elements of every model as they lie in memory, of one type and perhaps misaligned.
struct raw_block {
    dtype type;        ///< F32 or narrower
    std::size_t first; ///< as that of a block
    std::size_t count;
    std::span<const std::byte* const> models;
    const std::byte* base; ///< null without task vectors; else still to be subtracted, and added to the result
};

/// The state of a method for one tensor: combine() writes one result per element. It is called from several threads.
template <class R>
concept tensor_run = requires(const R& run, block<float> f, block<double> d, std::span<double> out) {
    run.combine(f, out);
    run.combine(d, out);
};

/// A run that need not have its blocks widened: combine_raw() writes results of the models' type, or returns false
/// where it does need that, as it may for any block. Blocks end where those of combine() end, but may be several
/// together.
template <class R>
concept raw_run = tensor_run<R> && requires(const R& run, const raw_block& b, std::byte* out) {
    { run.combine_raw(b, out) } -> std::same_as<bool>;
};

/// Looks at everything before anything is combined, as often as it has to: until is_settled(), the engine takes an
/// empty partial(), has every block observed into partials of its own, adds these up in the order of the blocks, and
/// hands the sum to settle(). observe() is called from several threads.
template <class O>
concept block_watcher = requires(O& o, const O& seen, typename O::partial_type& p, block<float> f, block<double> d) {
    { seen.is_settled() } -> std::same_as<bool>;
    { seen.partial() } -> std::same_as<typename O::partial_type>;
    seen.observe(f, p);
    seen.observe(d, p);
    p += std::move(p);
    o.settle(std::as_const(p));
};

/// A watcher that need not see everything in its next pass: wanted(first) says how many elements of the block that
/// begins with element `first`, 0 for none. More may come all the same.
template <class O>
concept choosy_watcher = block_watcher<O> && requires(const O& seen) {
    { seen.wanted(std::size_t{}) } -> std::same_as<std::size_t>;
};
inline constexpr std::size_t all_elements = std::numeric_limits<std::size_t>::max();

/// A watcher that need not have its blocks widened: observe_raw() does what observe() does, or returns false.
template <class O>
concept raw_watcher = block_watcher<O> && requires(const O& seen, typename O::partial_type& p, const raw_block& b) {
    { seen.observe_raw(b, p) } -> std::same_as<bool>;
};

/// A run that looks at its whole tensor first.
template <class R>
concept observing_run = tensor_run<R> && block_watcher<R>;

/// A run that needs neighbours together: its blocks begin and end at multiples of so many elements, rows for example.
template <class R>
concept grouping_run = tensor_run<R> && requires(const R& run) {
    { run.elements_together() } -> std::same_as<std::size_t>;
};

/// A method, or a part of one, that has to see all tensors before it starts on one: survey(models) returns a
/// block_watcher. It is shown the blocks of all merged tensors, each block's `first` counted on through the tensors in
/// the order of names; start(context, survey) is given it, and may read it once it combines.
template <class M>
concept surveying_method = std::copy_constructible<M> && requires(const M& method, const model_context& models) {
    { method.survey(models) } -> block_watcher;
};

/// Arithmetic on blocks of numbers: start(context), of a surveying_method start(context, survey), checks the options
/// against the number of models and returns the run of one tensor. A method knows nothing of files, element types,
/// threads or permutations. See average.hpp.
template <class M>
concept merge_method = std::copy_constructible<M> && requires(const M& method, const tensor_context& context) {
    { M::name } -> std::convertible_to<std::string_view>;
} && ((!surveying_method<M> && requires(const M& method, const tensor_context& context) {
    { method.start(context) } -> tensor_run;
}) || (surveying_method<M> && requires(const M& method, const tensor_context& context, const model_context& models) {
    { method.start(context, method.survey(models)) } -> tensor_run;
}));

/// Methods that merge task vectors say so: static constexpr bool needs_deltas = true.
template <class M>
concept wants_deltas = requires {
    requires M::needs_deltas;
};

/// Methods that read statistics beside the models say so: static constexpr bool reads_statistics = true. They cannot
/// follow an alignment.
template <class M>
concept reads_statistics = requires {
    requires M::reads_statistics;
};

/// Methods that may find, while they combine, values that they cannot work with, and throw value_error, say so:
/// static constexpr bool may_refuse_values = true. Buffers are then written only once the result is complete.
template <class M>
concept may_refuse_values = requires {
    requires M::may_refuse_values;
};

/// What becomes of tensors that are not floating point when they differ between the models. A method may offer the
/// choice as a member `integers`, or be given one by with_integers; otherwise they must be equal.
enum class integer_policy { must_be_equal, take_first };

namespace detail {

template <merge_method Method>
struct method_with_integers : Method {
    integer_policy integers;

    std::string describe() const {
        return "with_integers(" + plait::describe(integers) + ", " + plait::describe(static_cast<const Method&>(*this))
               + ")";
    }
};

} // namespace detail

/// Any method, with a choice for tensors that are not floating point.
///     fuse(tuned, task_vectors{base} | with_integers(integer_policy::take_first, ties{}))
template <merge_method Method>
detail::method_with_integers<Method> with_integers(integer_policy integers, Method method) {
    return {std::move(method), integers};
}

} // namespace plait
