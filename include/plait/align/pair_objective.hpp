#pragma once

#include <plait/align/model_map.hpp>
#include <plait/linalg/gram.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait::detail {

/// The weights of an anchor and of one model, and how well they match: sum of <anchor tensor, mapped model tensor> over
/// all tensors of floating point that carry a unit group.
template <std::floating_point F>
class pair_objective {
public:
    /// `anchor` and `own` hold the scales of the two models in identity order. Throws value_error when a weight is NaN or
    /// infinite; `index` names the model in errors, the anchor's index is unknown.
    pair_objective(const model_map& anchor_map, const model_view& anchor, const model_map& own_map,
                   const model_view& own)
        : spec_(own_map.spec()), anchor_map_(anchor_map), own_map_(own_map) {
        for (const bound_tensor& t : spec_.tensors()) {
            tensors_.push_back({anchor.at(t.name), own.at(t.name)});
            const bool counts = std::ranges::any_of(t.factors, [](const auto& f) { return f.group.has_value(); }) &&
                                is_floating(tensors_.back().anchor.type()) && is_floating(tensors_.back().own.type());
            counts_.push_back(counts);
        }
    }

    const bound_spec& spec() const { return spec_; }
    const model_map& own_map() const { return own_map_; }
    bool counts(std::size_t tensor) const { return counts_[tensor]; }

    /// Adds the products of the anchor's units (rows) with the model's units (columns) in one tensor, the other groups
    /// of the tensor mapped as `state` says.
    void add_products(const unit_group::use& use, std::span<const unit_map> state, matrix_view<F> products,
                      std::size_t threads) const {
        const bound_tensor& t = spec_.tensors()[use.tensor];
        const bool last = use.factor + 1 == t.factors.size() && t.factors.size() > 1;
        const any_tensor_view& a = tensors_[use.tensor].anchor;
        const any_tensor_view& b = tensors_[use.tensor].own;
        const auto state_of = [&](std::size_t f) {
            return f == use.factor ? identity_or_scales(own_map_, t, f) : map_of(state, t, f);
        };
        add_gram(unfolding<F>(a.type(), a.bytes(), levels_of(t, a, anchor_maps(t)), use.factor, last),
                 unfolding<F>(b.type(), b.bytes(), levels_of(t, b, state_of), use.factor, last), products, threads);
    }

    /// <anchor tensor, mapped model tensor>, in double.
    double product(std::size_t tensor, std::span<const unit_map> state) const {
        const bound_tensor& t = spec_.tensors()[tensor];
        const any_tensor_view& b = tensors_[tensor].own;
        const gathered_view own(b.type(), b.bytes(), levels_of(t, b, [&](std::size_t f) { return map_of(state, t, f); }));
        double sum = 0;
        for_each_block(anchor_view(tensor), own, [&](const F* x, const F* y, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
        });
        return sum;
    }

    /// The Euclidean norms of the units of one group, over all its tensors that count.
    struct norms {
        std::vector<double> anchor;
        std::vector<double> own;
    };
    norms unit_norms(std::size_t group) const {
        const unit_group& g = spec_.groups()[group];
        norms result{std::vector<double>(g.size), std::vector<double>(g.size)};
        for (const auto& use : g.uses) {
            if (!counts(use.tensor)) continue;
            const bound_tensor& t = spec_.tensors()[use.tensor];
            const auto own_maps = [&](std::size_t f) { return identity_or_scales(own_map_, t, f); };
            add_squares(t, use, tensors_[use.tensor].anchor, anchor_maps(t), result.anchor);
            add_squares(t, use, tensors_[use.tensor].own, own_maps, result.own);
        }
        for (auto* side : {&result.anchor, &result.own})
            for (double& x : *side) x = std::sqrt(x);
        return result;
    }

private:
    struct pair {
        any_tensor_view anchor;
        any_tensor_view own;
    };
    static constexpr std::size_t block = 8192;

    static const unit_map* map_of(std::span<const unit_map> maps, const bound_tensor& t, std::size_t f) {
        const auto& group = t.factors[f].group;
        return group ? &maps[*group] : nullptr;
    }
    static const unit_map* identity_or_scales(const model_map& maps, const bound_tensor& t, std::size_t f) {
        const auto& group = t.factors[f].group;
        return group && !maps[*group].is_permutation() ? &maps[*group] : nullptr;
    }
    auto anchor_maps(const bound_tensor& t) const {
        return [this, &t](std::size_t f) { return identity_or_scales(anchor_map_, t, f); };
    }
    gathered_view anchor_view(std::size_t tensor) const {
        const bound_tensor& t = spec_.tensors()[tensor];
        const any_tensor_view& a = tensors_[tensor].anchor;
        return {a.type(), a.bytes(), levels_of(t, a, anchor_maps(t))};
    }

    template <class OnBlock>
    static void for_each_block(const gathered_view& a, const gathered_view& b, OnBlock on_block) {
        std::vector<F> x(std::min(block, a.size()));
        std::vector<F> y(x.size());
        for (std::size_t i = 0; i < a.size(); i += block) {
            const std::size_t n = std::min(block, a.size() - i);
            a.read(i, n, x.data());
            b.read(i, n, y.data());
            on_block(x.data(), y.data(), n);
        }
    }

    template <class MapOf>
    static void add_squares(const bound_tensor& t, const unit_group::use& use, const any_tensor_view& v, MapOf maps,
                            std::vector<double>& sums) {
        const gathered_view elements(v.type(), v.bytes(), levels_of(t, v, maps));
        std::size_t inner = 1;
        for (std::size_t f = use.factor + 1; f < t.factors.size(); ++f) inner *= t.factors[f].extent;
        for_each_block(elements, elements, [&, at = std::size_t{0}](const F* x, const F*, std::size_t n) mutable {
            for (std::size_t i = 0; i < n; ++i, ++at) {
                const auto value = static_cast<double>(x[i]);
                sums[at / inner % sums.size()] += value * value;
            }
        });
    }

    const bound_spec& spec_;
    const model_map& anchor_map_;
    const model_map& own_map_;
    std::vector<pair> tensors_; // in the order of spec.tensors()
    std::vector<bool> counts_;
};

} // namespace plait::detail
