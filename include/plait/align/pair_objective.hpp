#pragma once

#include <plait/align/model_map.hpp>
#include <plait/align/soft_map.hpp>
#include <plait/align/unit_squares.hpp>
#include <plait/linalg/gram.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
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
    /// The maps hold the scales of the two models, in the order of their files.
    pair_objective(const model_map& anchor_map, const model_view& anchor, const model_map& own_map,
                   const model_view& own)
        : spec_(own_map.spec()), anchor_map_(anchor_map), own_map_(own_map) {
        for (const bound_tensor& t : spec_.tensors()) {
            tensors_.push_back({anchor.at(t.name), own.at(t.name)});
            const bool counts = std::ranges::any_of(t.factors, [](const auto& f) { return f.group.has_value(); })
                                && is_floating(tensors_.back().anchor.type())
                                && is_floating(tensors_.back().own.type());
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
        const any_tensor_view& b = tensors_[use.tensor].own;
        add_gram(unfolded_anchor(use), unfolded(b.type(), b.bytes(), own_levels(use, state, {}), use), products,
                 threads);
    }

    /// The same, with what is known of the other groups: the model's units weighted by a soft map where one is given.
    void add_soft_products(const unit_group::use& use, std::span<const unit_map> state,
                           std::span<const soft_map<F>> soft, matrix_view<F> products, std::size_t threads) const {
        const bound_tensor& t = spec_.tensors()[use.tensor];
        const auto is_soft = [&](std::size_t f) {
            return f != use.factor && t.factors[f].group && !soft[*t.factors[f].group].is_certain();
        };
        bool any = false;
        for (std::size_t f = 0; f < t.factors.size(); ++f) any = any || is_soft(f);
        if (!any) return add_products(use, state, products, threads);

        const any_tensor_view& b = tensors_[use.tensor].own;
        const gathered_view from(b.type(), b.bytes(), own_levels(use, state, is_soft));
        std::vector<F> elements(from.size());
        from.read(0, elements.size(), elements.data());
        std::vector<axis_level> dense;
        std::size_t inner = elements.size();
        for (std::size_t f = 0; f < t.factors.size(); ++f) {
            inner /= t.factors[f].extent;
            dense.push_back({t.factors[f].extent, static_cast<std::ptrdiff_t>(inner)});
            if (is_soft(f)) elements = weighted(elements, inner, soft[*t.factors[f].group].weights(), threads);
        }
        const auto* bytes = reinterpret_cast<const std::byte*>(elements.data());
        add_gram(unfolded_anchor(use), unfolded(dtype_of<F>::value, bytes, dense, use), products, threads);
    }

    /// <anchor tensor, mapped model tensor>, in double.
    double product(std::size_t tensor, std::span<const unit_map> state) const {
        const bound_tensor& t = spec_.tensors()[tensor];
        const any_tensor_view& b = tensors_[tensor].own;
        const gathered_view own(b.type(), b.bytes(),
                                levels_of(t, b, [&](std::size_t f) { return map_of(state, t, f); }));
        const any_tensor_view& a = tensors_[tensor].anchor;
        const gathered_view anchor(a.type(), a.bytes(), levels_of(t, a, anchor_maps(t)));
        constexpr std::size_t block = 8192;
        std::vector<F> x(std::min(block, own.size()));
        std::vector<F> y(x.size());
        std::array<double, 8> sums{}; // independent, so that they can be added side by side
        for (std::size_t first = 0; first < own.size(); first += block) {
            const std::size_t n = std::min(block, own.size() - first);
            anchor.read(first, n, x.data());
            own.read(first, n, y.data());
            for (std::size_t i = 0; i < n; ++i) sums[i % 8] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
        }
        double sum = 0;
        for (double s : sums) sum += s;
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
            const auto& [anchor, own] = tensors_[use.tensor];
            std::size_t inner = 1;
            for (std::size_t f = use.factor + 1; f < t.factors.size(); ++f) inner *= t.factors[f].extent;
            const auto own_maps = [&](std::size_t f) { return scales_of(own_map_, t, f); };
            add_unit_squares({anchor.type(), anchor.bytes(), levels_of(t, anchor, anchor_maps(t))}, inner,
                             result.anchor);
            add_unit_squares({own.type(), own.bytes(), levels_of(t, own, own_maps)}, inner, result.own);
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

    static const unit_map* map_of(std::span<const unit_map> maps, const bound_tensor& t, std::size_t f) {
        const auto& group = t.factors[f].group;
        return group ? &maps[*group] : nullptr;
    }
    static const unit_map* scales_of(const model_map& maps, const bound_tensor& t, std::size_t f) {
        const auto& group = t.factors[f].group;
        return group && !maps[*group].is_permutation() ? &maps[*group] : nullptr;
    }
    auto anchor_maps(const bound_tensor& t) const {
        return [this, &t](std::size_t f) { return scales_of(anchor_map_, t, f); };
    }

    // Where the model's elements lie: the unit's own factor and those that `keeps` names in the order of the file, the
    // others mapped.
    std::vector<axis_level> own_levels(const unit_group::use& use, std::span<const unit_map> state,
                                       const std::function<bool(std::size_t)>& keeps) const {
        const bound_tensor& t = spec_.tensors()[use.tensor];
        return levels_of(t, tensors_[use.tensor].own, [&](std::size_t f) {
            return f == use.factor || (keeps && keeps(f)) ? scales_of(own_map_, t, f) : map_of(state, t, f);
        });
    }

    unfolding<F> unfolded_anchor(const unit_group::use& use) const {
        const bound_tensor& t = spec_.tensors()[use.tensor];
        const any_tensor_view& a = tensors_[use.tensor].anchor;
        return unfolded(a.type(), a.bytes(), levels_of(t, a, anchor_maps(t)), use);
    }

    unfolding<F> unfolded(dtype type, const std::byte* bytes, std::vector<axis_level> levels,
                          const unit_group::use& use) const {
        const std::size_t factors = levels.size();
        const bool last = use.factor + 1 == factors && factors > 1;
        return {type, bytes, std::move(levels), use.factor, last};
    }

    // out[o][i][r] = sum_j weights(i, j) in[o][j][r], for elements nested (o, unit, inner)
    static std::vector<F> weighted(const std::vector<F>& elements, std::size_t inner, matrix_view<const F> weights,
                                   std::size_t threads) {
        const std::size_t n = weights.rows();
        std::vector<F> result(elements.size());
        if (inner == 1) {
            const std::size_t outer = elements.size() / n;
            multiply_add(op::plain, matrix_view<const F>(elements.data(), outer, n), op::transposed, weights,
                         matrix_view<F>(result.data(), outer, n), threads);
            return result;
        }
        for (std::size_t first = 0; first < elements.size(); first += n * inner)
            multiply_add(op::plain, weights, op::plain, matrix_view<const F>(elements.data() + first, n, inner),
                         matrix_view<F>(result.data() + first, n, inner), threads);
        return result;
    }

    const bound_spec& spec_;
    const model_map& anchor_map_;
    const model_map& own_map_;
    std::vector<pair> tensors_; // in the order of spec.tensors()
    std::vector<bool> counts_;
};

} // namespace plait::detail
