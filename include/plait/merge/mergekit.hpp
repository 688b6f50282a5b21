#pragma once

#include <plait/merge/merge_method.hpp>

#include <string>
#include <utility>

/// Results that agree with those of other tools where plait's own, sounder ones do not.
namespace plait::compat {

/// Methods that can compute what mergekit computes say so: static constexpr bool has_mergekit_bits = true.
template <class M>
concept has_mergekit_bits = merge_method<M> && !surveying_method<M> && requires {
    requires M::has_mergekit_bits;
};

namespace detail {

template <class Method>
struct mergekit_method : Method {
    std::string describe() const {
        return "compat::mergekit(" + plait::describe(static_cast<const Method&>(*this)) + ")";
    }
    auto start(tensor_context context) const {
        context.as_mergekit = true;
        return Method::start(context);
    }
};

} // namespace detail

/// A method with mergekit's arithmetic, of commit a6e4028: every step is rounded to the elements' type, weights too;
/// breadcrumbs drops a tensor whole whose share of outliers is less than an element; slerp takes zero vectors for
/// orthogonal ones; model_stock floors products of norms at 1e-6. For checks against results of that tool, and many
/// times slower than plait's own way. Random masks are not those of mergekit, which draws them from PyTorch; norms are
/// sums in another order, so that what is rescaled by_l1 may differ in its last bits.
///     fuse(tuned, task_vectors{base} | compat::mergekit(ties{.density = .5}))
template <has_mergekit_bits Method>
detail::mergekit_method<Method> mergekit(Method method) {
    return {std::move(method)};
}

} // namespace plait::compat
