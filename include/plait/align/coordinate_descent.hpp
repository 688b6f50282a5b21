#pragma once

#include <plait/align/model_map.hpp>
#include <plait/align/pair_objective.hpp>
#include <plait/align/soft_map.hpp>
#include <plait/core/random.hpp>
#include <plait/match/matcher.hpp>
#include <plait/permutation/random.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait::detail {

/// `map`, then the permutation: its scales stay with their units.
inline unit_map reordered(const unit_map& map, const permutation& p) {
    if (map.is_permutation()) return unit_map(p);
    std::vector<double> scales;
    for (std::size_t i : p) scales.push_back(map.scales()[i]);
    return {p, std::move(scales)};
}

/// Any matcher, for costs of one type; the second argument is null or its assignment of an earlier matrix.
template <std::floating_point F>
using assign_function = std::function<assignment(matrix_view<const F>, const assignment*)>;

enum class evidence : std::uint8_t { hard, soft };

/// Searches the unit orders of one model that bring it closest to an anchor, one group at a time.
template <std::floating_point F>
class coordinate_descent {
public:
    struct result {
        std::vector<unit_map> state;  ///< one map per group
        std::vector<assignment> last; ///< of each group, empty before the first
        int sweeps = 0;
        bool converged = false;
        std::vector<bool> stale; ///< groups that are worth another look
        bool certain = true; ///< whether soft evidence would have said the same as the orders that were matched on it
    };

    coordinate_descent(const pair_objective<F>& objective, const assign_function<F>& assign, std::size_t threads)
        : objective_(objective),
          spec_(objective.spec()),
          assign_(assign),
          threads_(threads),
          norms_(spec_.groups().size()) {}

    /// Every unit where the file has it.
    result identity_start() const {
        result r;
        for (std::size_t g = 0; g < spec_.groups().size(); ++g) r.state.push_back(objective_.own_map()[g]);
        r.last.resize(r.state.size());
        r.stale.assign(r.state.size(), true);
        return r;
    }

    result random_start(std::uint64_t seed) const {
        result r = identity_start();
        counter_random random(seed);
        for (unit_map& map : r.state) map = reordered(map, random_permutation(map.size(), random));
        return r;
    }

    /// Fixed axes are resolved. The group with the largest share of its parameters between resolved axes is matched on
    /// those parameters alone and is resolved in turn. The result does not depend on the model's order of units.
    /// With `evidence::soft` a match counts in the next groups by how certain it is, so that wrong pairs mislead them
    /// less.
    result anchored_start(evidence kind) {
        result r = identity_start();
        std::vector<bool> resolved(r.state.size());
        std::vector<soft_map<F>> soft(r.state.size());
        for (;;) {
            std::size_t best = r.state.size();
            double best_share = 0;
            for (std::size_t g = 0; g < r.state.size(); ++g) {
                const double share = resolved[g] ? 0 : resolved_share(g, resolved);
                if (share > best_share) best_share = share, best = g;
            }
            if (best == r.state.size()) return r;

            matrix<F> costs(spec_.groups()[best].size);
            for (const auto& use : spec_.groups()[best].uses)
                if (objective_.counts(use.tensor) && is_resolved(use, resolved))
                    objective_.add_soft_products(use, r.state, soft, costs.view(), threads_);
            const permutation order = match(best, costs, r);
            r.state[best] = reordered(objective_.own_map()[best], order);
            // Matched on all there is, and on orders alone: descend() would only do it again.
            r.stale[best] = has_open_neighbour(best, resolved) || leans_on_soft(best, soft);
            resolved[best] = true;
            if (kind == evidence::soft && has_open_neighbour(best, resolved)) {
                soft[best] = soft_map<F>(costs.view(), order);
                r.certain = r.certain && soft[best].is_certain();
            }
            for (std::size_t g = 0; g < soft.size(); ++g) // as large as the costs: keep none in vain
                if (!soft[g].is_certain() && !has_open_neighbour(g, resolved)) soft[g] = {};
        }
    }

    /// Matches group after group until none gains, or for max_sweeps sweeps. A group is only looked at again when one
    /// that shares a tensor with it has changed.
    void descend(result& r, int max_sweeps) {
        std::vector<bool>& stale = r.stale;
        while (r.sweeps < max_sweeps && std::ranges::find(stale, true) != stale.end()) {
            ++r.sweeps;
            for (std::size_t g = 0; g < r.state.size(); ++g) {
                if (!stale[g]) continue;
                stale[g] = false;
                if (step(g, r)) mark_neighbours(g, stale);
            }
        }
        r.converged = std::ranges::find(stale, true) == stale.end();
    }

private:
    // Gains below the rounding error of the products are none.
    static constexpr double tolerance = std::same_as<F, float> ? 0x1p-20 : 0x1p-49;

    // Products of n units with n units, zero at first.
    template <class T>
    class matrix {
    public:
        explicit matrix(std::size_t n)
            : n_(n), elements_(std::make_unique<T[]>(checked_product(n, n, "the number of pairs of units"))) {}
        matrix_view<T> view() const { return {elements_.get(), n_, n_}; }

    private:
        std::size_t n_;
        std::unique_ptr<T[]> elements_;
    };

    bool has_elements(const unit_group& group) const {
        return std::ranges::any_of(group.uses, [&](const auto& use) {
            return objective_.counts(use.tensor) && spec_.tensors()[use.tensor].shape.size() > 0;
        });
    }

    // Turns products into costs and solves the assignment. Throws value_error when float or double cannot hold the
    // products.
    permutation match(std::size_t g, const matrix<F>& products, result& r) {
        const std::string& group = spec_.groups()[g].name;
        bool all_zero = true;
        for (std::size_t i = 0; i < products.view().rows(); ++i) {
            for (F& x : products.view().row(i)) {
                if (!std::isfinite(x))
                    throw value_error("the weights of group " + in_quotes(group) + " are too large: their products are "
                                      + "not finite in " + (std::same_as<F, float> ? "float" : "double"));
                all_zero = all_zero && x == 0;
                x = -x;
            }
        }
        if (all_zero && has_tiny_weights(g))
            throw value_error("the weights of group " + in_quotes(group)
                              + " are too small: all their products are 0 in "
                              + (std::same_as<F, float> ? "float" : "double"));
        assignment& last = r.last[g];
        assignment found = assign_(products.view(), last.columns.empty() ? nullptr : &last);
        if (found.columns.size() != r.state[g].size())
            throw shape_error("the matcher assigned " + std::to_string(found.columns.size()) + " rows, expected "
                              + std::to_string(r.state[g].size()));
        last = std::move(found);
        try {
            return permutation(last.columns);
        } catch (const value_error& e) {
            throw value_error("the matcher's assignment of group " + in_quotes(group) + " is none: " + e.fault());
        }
    }

    // Whether both models have weights in the group that are not zero, but so small that their squares are.
    bool has_tiny_weights(std::size_t g) {
        const auto is_tiny = [](double norm) { return norm > 0 && norm < (std::same_as<F, float> ? 1e-18 : 1e-140); };
        return std::ranges::any_of(norms(g).anchor, is_tiny) && std::ranges::any_of(norms(g).own, is_tiny);
    }

    const typename pair_objective<F>::norms& norms(std::size_t g) {
        if (!norms_[g]) norms_[g] = objective_.unit_norms(g);
        return *norms_[g];
    }

    // Matches one group against all its neighbours as they are; whether its order changed.
    bool step(std::size_t g, result& r) {
        const unit_group& group = spec_.groups()[g];
        if (!has_elements(group)) return false;
        const matrix<F> costs(group.size);
        for (const auto& use : group.uses)
            if (objective_.counts(use.tensor)) objective_.add_products(use, r.state, costs.view(), threads_);
        const permutation& old = r.state[g].permutation();
        const permutation next = match(g, costs, r);
        if (next == old || !gains_enough(g, costs.view(), old, next)) return false;
        unit_map map = reordered(objective_.own_map()[g], next);
        if (is_coupled_to_itself(group) && !improves(group, g, r, map)) return false;
        r.state[g] = std::move(map);
        return true;
    }

    bool gains_enough(std::size_t g, matrix_view<F> costs, const permutation& old, const permutation& next) {
        double gain = 0;
        double scale = 0;
        for (std::size_t i = 0; i < old.size(); ++i) {
            if (old[i] == next[i]) continue;
            gain += static_cast<double>(costs(i, old[i])) - static_cast<double>(costs(i, next[i]));
            scale += norms(g).anchor[i] * (norms(g).own[old[i]] + norms(g).own[next[i]]);
        }
        return gain > tolerance * scale;
    }

    // A tensor that carries a group twice (a recurrent layer) makes the products depend on the order they decide.
    bool is_coupled_to_itself(const unit_group& group) const {
        for (std::size_t i = 1; i < group.uses.size(); ++i)
            if (group.uses[i - 1].tensor == group.uses[i].tensor) return true; // uses are sorted by tensor
        return false;
    }

    bool improves(const unit_group& group, std::size_t g, const result& r, const unit_map& map) const {
        std::vector<unit_map> next = r.state;
        next[g] = map;
        double before = 0;
        double after = 0;
        std::size_t last = spec_.tensors().size();
        for (const auto& use : group.uses) {
            if (use.tensor == std::exchange(last, use.tensor) || !objective_.counts(use.tensor)) continue;
            before += objective_.product(use.tensor, r.state);
            after += objective_.product(use.tensor, next);
        }
        return after - before > tolerance * (std::fabs(before) + std::fabs(after));
    }

    bool is_resolved(const unit_group::use& use, const std::vector<bool>& resolved) const {
        const auto& factors = spec_.tensors()[use.tensor].factors;
        for (std::size_t f = 0; f < factors.size(); ++f)
            if (f != use.factor && factors[f].group && !resolved[*factors[f].group]) return false;
        return true;
    }

    double resolved_share(std::size_t g, const std::vector<bool>& resolved) const {
        double all = 0;
        double known = 0;
        for (const auto& use : spec_.groups()[g].uses) {
            if (!objective_.counts(use.tensor)) continue;
            const auto size = static_cast<double>(spec_.tensors()[use.tensor].shape.size());
            all += size;
            if (is_resolved(use, resolved)) known += size;
        }
        return all > 0 ? known / all : 0;
    }

    bool leans_on_soft(std::size_t g, const std::vector<soft_map<F>>& soft) const {
        return std::ranges::any_of(spec_.groups()[g].uses, [&](const auto& use) {
            return std::ranges::any_of(spec_.tensors()[use.tensor].factors,
                                       [&](const bound_factor& f) { return f.group && !soft[*f.group].is_certain(); });
        });
    }

    // Whether a tensor stands between the group and one that is not resolved.
    bool has_open_neighbour(std::size_t g, const std::vector<bool>& resolved) const {
        return std::ranges::any_of(spec_.groups()[g].uses,
                                   [&](const auto& use) { return !is_resolved(use, resolved); });
    }

    void mark_neighbours(std::size_t g, std::vector<bool>& stale) const {
        for (const auto& use : spec_.groups()[g].uses) {
            const auto& factors = spec_.tensors()[use.tensor].factors;
            for (std::size_t f = 0; f < factors.size(); ++f)
                if (f != use.factor && factors[f].group) stale[*factors[f].group] = true;
        }
    }

    const pair_objective<F>& objective_;
    const bound_spec& spec_;
    const assign_function<F>& assign_;
    std::size_t threads_;
    std::vector<std::optional<typename pair_objective<F>::norms>> norms_; // made when a gain is first in question
};

} // namespace plait::detail
