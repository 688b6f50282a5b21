#pragma once

#include <plait/align/alignment.hpp>
#include <plait/merge/merge_method.hpp>
#include <plait/merge/weight_space.hpp>
#include <plait/repair/repair_step.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace plait {

/// What fuse() does: align, choose the space, merge, repair. Written alignment | task_vectors | method | repair; all
/// but the method may be left out.
template <alignment_strategy Alignment, weight_space Space, merge_method Method, repair_step Repair>
struct policy {
    static_assert(!wants_deltas<Method> || Space::deltas,
                  "plait: this method merges task vectors: write task_vectors{base} | method{...}");
    static_assert(!reads_statistics<Method> || std::same_as<Alignment, unaligned>,
                  "plait: this method reads statistics in the order of its models: align and permute both first, then "
                  "fuse(models, method{...})");
    using policy_tag = void;

    Alignment alignment;
    Space space;
    Method method;
    Repair repair;
};

namespace detail {

/// An alignment and a space that still wait for their method.
template <alignment_strategy Alignment, weight_space Space>
struct opening {
    using opening_tag = void;
    Alignment alignment;
    Space space;
};

template <class T>
concept any_policy = requires {
    typename T::policy_tag;
};
template <class T>
concept any_opening = requires {
    typename T::opening_tag;
};
template <class T>
concept policy_piece =
    alignment_strategy<T> || weight_space<T> || repair_step<T> || merge_method<T> || any_policy<T> || any_opening<T>;
template <class T>
inline constexpr bool never = false;

template <class A, class S, class M, class R>
constexpr policy<A, S, M, R> make_policy(A alignment, S space, M method, R repair) {
    return {std::move(alignment), std::move(space), std::move(method), std::move(repair)};
}

template <merge_method M>
constexpr auto as_policy(M method) {
    return make_policy(unaligned{}, absolute_weights{}, std::move(method), no_repair{});
}
template <any_policy P>
constexpr P as_policy(P p) {
    return p;
}

} // namespace detail

/// A complete policy, or a merge method alone.
template <class P>
concept fusion_policy = detail::any_policy<P> || merge_method<P>;

/// Composes the parts of a policy from left to right. What does not compose does not compile, and says what to write
/// instead.
///     weight_matching{spec} | task_vectors{base} | average{}
template <detail::policy_piece L, detail::policy_piece R>
constexpr auto operator|(L left, R right) {
    using detail::any_opening;
    using detail::any_policy;
    using detail::make_policy;
    if constexpr (alignment_strategy<L> && weight_space<R>) {
        return detail::opening<L, R>{std::move(left), std::move(right)};
    } else if constexpr (alignment_strategy<L> && merge_method<R>) {
        return make_policy(std::move(left), absolute_weights{}, std::move(right), no_repair{});
    } else if constexpr (weight_space<L> && merge_method<R>) {
        return make_policy(unaligned{}, std::move(left), std::move(right), no_repair{});
    } else if constexpr (any_opening<L> && merge_method<R>) {
        return make_policy(std::move(left.alignment), std::move(left.space), std::move(right), no_repair{});
    } else if constexpr (merge_method<L> && repair_step<R>) {
        return make_policy(unaligned{}, absolute_weights{}, std::move(left), std::move(right));
    } else if constexpr (any_policy<L> && repair_step<R>) {
        static_assert(std::same_as<decltype(left.repair), no_repair>, "plait: a policy has one repair");
        return make_policy(std::move(left.alignment), std::move(left.space), std::move(left.method), std::move(right));
    } else if constexpr ((merge_method<L> || any_policy<L>)&&(alignment_strategy<R> || any_opening<R>)) {
        static_assert(detail::never<L>, "plait: align before you merge: write weight_matching{spec} | average{}");
    } else if constexpr (merge_method<L> && weight_space<R>) {
        static_assert(detail::never<L>,
                      "plait: task_vectors{base} stands before the method: write task_vectors{base} | ties{...}");
    } else if constexpr ((merge_method<L> || any_policy<L>)&&merge_method<R>) {
        static_assert(detail::never<L>, "plait: a policy has one merge method; to mix methods over tensors write "
                                        "by_name(on(glob, method), ...)");
    } else if constexpr ((alignment_strategy<L> || weight_space<L>)&&repair_step<R>) {
        static_assert(detail::never<L>, "plait: a repair follows a merge method: write weight_matching{spec} | "
                                        "average{} | rescale_activations{spec, probe}");
    } else {
        static_assert(detail::never<L>, "plait: a policy is written alignment | task_vectors | method | repair");
    }
}

} // namespace plait
