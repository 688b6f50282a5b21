#pragma once

#include <plait/align/alignment.hpp>
#include <plait/align/balance.hpp>
#include <plait/align/coordinate_descent.hpp>
#include <plait/align/pair_objective.hpp>
#include <plait/core/parallel.hpp>
#include <plait/linalg/backend.hpp>
#include <plait/model/same_tensors.hpp>
#include <plait/spec/bind.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// Where a search for the orders of units begins.
enum class descent_start : std::uint8_t {
    anchored, ///< from the fixed axes inwards; the result does not depend on the model's own order
    identity  ///< from the order of the file, as published
};

struct weight_matching_options {
    int max_sweeps = 100;
    int restarts = 0;     ///< also start at the identity and at this many random orders; the best objective wins
    bool balance = false; ///< first make the incoming and outgoing norms of every unit of a relu group equal
    std::uint64_t seed = 0;
    descent_start start = descent_start::anchored;
};

namespace detail {

inline void check(const weight_matching_options& options) {
    if (options.max_sweeps < 1)
        throw option_error("max_sweeps is " + std::to_string(options.max_sweeps) + ", expected 1 or more");
    if (options.restarts < 0)
        throw option_error("restarts is " + std::to_string(options.restarts) + ", expected 0 or more");
}

/// Matches every model to an anchor, with any matcher.
class weight_search {
public:
    weight_search(const permutation_spec& spec, const weight_matching_options& options, assign_function<float> floats,
                  assign_function<double> doubles)
        : spec_(spec), options_(options), assign_floats_(std::move(floats)), assign_doubles_(std::move(doubles)) {}

    alignment align(const model_view* anchor, std::span<const model_view> models, const run_options& run) const {
        const std::size_t threads = checked_threads(run);
        check_same_tensors(models);
        if (anchor) check_same_tensors(models[0], *anchor, models.size());
        const model_view& reference = anchor ? *anchor : models[0];
        const auto spec = std::make_shared<const bound_spec>(bind(spec_, models[0]));
        for (std::size_t k = 0; k < models.size(); ++k) check_finite(*spec, models[k], k);
        if (anchor) check_finite(*spec, *anchor, models.size());

        const model_map anchor_map = own_map(spec, reference);
        const std::size_t first = anchor ? 0 : 1;
        std::vector<std::optional<alignment::entry>> found(models.size());
        if (!anchor) found[0] = {anchor_map};
        const single_threaded_blas guard;
        const std::size_t pairs = models.size() - first;
        const std::size_t inner_threads = pairs > 1 ? std::max<std::size_t>(1, threads / pairs) : threads;
        progress done(run, pairs);
        parallel_for(pairs, threads, [&](std::size_t i) {
            const bool in_double = has_doubles(*spec, reference) || has_doubles(*spec, models[first + i]);
            found[first + i] =
                in_double ? match(assign_doubles_, spec, anchor_map, reference, models[first + i], inner_threads)
                          : match(assign_floats_, spec, anchor_map, reference, models[first + i], inner_threads);
            done.advance();
        });
        std::vector<alignment::entry> entries;
        for (auto& e : found) entries.push_back(std::move(*e));
        return {spec, std::move(entries), anchor ? std::optional(anchor_map) : std::nullopt};
    }

private:
    static bool has_doubles(const bound_spec& spec, const model_view& m) {
        return std::ranges::any_of(spec.tensors(), [&](const auto& t) { return m.at(t.name).type() == dtype::f64; });
    }

    static void check_finite(const bound_spec& spec, const model_view& m, std::size_t index) {
        std::vector<double> values(8192);
        for (const unit_group& g : spec.groups()) {
            for (const auto& use : g.uses) {
                const std::string& name = spec.tensors()[use.tensor].name;
                const any_tensor_view& v = m.at(name);
                if (!is_floating(v.type())) continue;
                const gathered_view elements(v);
                for (std::size_t i = 0; i < elements.size(); i += values.size()) {
                    const std::size_t n = std::min(values.size(), elements.size() - i);
                    elements.read(i, n, values.data());
                    for (std::size_t k = 0; k < n; ++k)
                        if (!std::isfinite(values[k]))
                            throw value_error("element " + std::to_string(i + k) + " is " + std::to_string(values[k]) +
                                                  ", expected finite weights to match",
                                              {.model = index, .tensor = name});
                }
            }
        }
    }

    model_map own_map(const std::shared_ptr<const bound_spec>& spec, const model_view& m) const {
        return options_.balance ? balancer(spec, m).result() : model_map::identity(spec);
    }

    template <std::floating_point F>
    alignment::entry match(const assign_function<F>& assign, const std::shared_ptr<const bound_spec>& spec,
                           const model_map& anchor_map, const model_view& anchor, const model_view& own,
                           std::size_t threads) const {
        const model_map identity = own_map(spec, own);
        const pair_objective<F> objective(anchor_map, anchor, identity, own);
        coordinate_descent<F> search(objective, assign, threads);
        using result = typename coordinate_descent<F>::result;

        std::optional<result> best;
        std::vector<double> best_products;
        std::string best_start;
        const auto consider = [&](result r, const std::string& name) {
            search.descend(r, options_.max_sweeps);
            auto products = products_of(objective, r.state);
            if (best && total(products) <= total(best_products)) return;
            best = std::move(r);
            best_products = std::move(products);
            best_start = name;
        };
        if (options_.start == descent_start::anchored) {
            result start = search.anchored_start(evidence::soft);
            const bool certain = start.certain;
            consider(std::move(start), "anchored");
            if (!certain) consider(search.anchored_start(evidence::hard), "anchored, hard");
        }
        if (options_.start == descent_start::identity || options_.restarts > 0) consider(search.identity_start(), "identity");
        for (int k = 1; k <= options_.restarts; ++k)
            consider(search.random_start(options_.seed + static_cast<std::uint64_t>(k)), "random " + std::to_string(k));

        const auto before = products_of(objective, search.identity_start().state);
        model_report report{.objective_before = total(before),
                            .objective_after = total(best_products),
                            .sweeps = best->sweeps,
                            .converged = best->converged,
                            .start = best_start};
        for (std::size_t g = 0; g < spec->groups().size(); ++g) {
            const unit_group& group = spec->groups()[g];
            report.groups.push_back({group.name, group.size, best->state[g].permutation().moved(),
                                     share_of(group, before), share_of(group, best_products), best->gaps[g]});
        }
        return {model_map(spec, std::move(best->state)), std::move(report)};
    }

    template <class Objective>
    static std::vector<double> products_of(const Objective& objective, std::span<const unit_map> state) {
        std::vector<double> products;
        for (std::size_t t = 0; t < objective.spec().tensors().size(); ++t)
            products.push_back(objective.counts(t) ? objective.product(t, state) : 0);
        return products;
    }

    static double total(const std::vector<double>& products) {
        double sum = 0;
        for (double p : products) sum += p;
        return sum;
    }

    static double share_of(const unit_group& group, const std::vector<double>& products) {
        double sum = 0;
        std::size_t last = products.size();
        for (const auto& use : group.uses)
            if (use.tensor != std::exchange(last, use.tensor)) sum += products[use.tensor];
        return sum;
    }

    const permutation_spec& spec_;
    const weight_matching_options& options_;
    assign_function<float> assign_floats_;
    assign_function<double> assign_doubles_;
};

} // namespace detail
} // namespace plait
