#pragma once

#include <plait/align/alignment.hpp>
#include <plait/align/balance.hpp>
#include <plait/align/coordinate_descent.hpp>
#include <plait/align/pair_objective.hpp>
#include <plait/align/weight_matching_options.hpp>
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

namespace plait::detail {

/// Matches every model to an anchor, with any matcher.
class weight_search {
public:
    weight_search(const permutation_spec& spec, const weight_matching_options& options, assign_function<float> floats,
                  assign_function<double> doubles)
        : spec_(spec), options_(options), assign_floats_(std::move(floats)), assign_doubles_(std::move(doubles)) {}

    alignment align(const model_view* anchor, std::span<const model_view> models, const run_options& run) const {
        const std::size_t threads = checked_threads(run);
        check_same_tensors(models, anchor);
        const model_view& reference = anchor ? *anchor : models[0];
        const auto spec = std::make_shared<const bound_spec>(bind(spec_, models[0]));
        for (std::size_t k = 0; k < models.size(); ++k) check_finite(*spec, models[k], {.model = k});
        if (anchor) check_finite(*spec, *anchor, {.file = "the base"});

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

    static void check_finite(const bound_spec& spec, const model_view& m, location at) {
        std::vector<double> values(8192);
        for (const bound_tensor& t : spec.tensors()) {
            const any_tensor_view& v = m.at(t.name);
            const bool matters = std::ranges::any_of(t.factors, [](const auto& f) { return f.group.has_value(); });
            if (!matters || !is_floating(v.type())) continue;
            const gathered_view elements(v);
            for (std::size_t i = 0; i < elements.size(); i += values.size()) {
                const std::span<double> some(values.data(), std::min(values.size(), elements.size() - i));
                elements.read(i, some.size(), some.data());
                const auto bad = std::ranges::find_if(some, [](double x) { return !std::isfinite(x); });
                if (bad == some.end()) continue;
                at.tensor = t.name;
                throw value_error("element " + std::to_string(i + static_cast<std::size_t>(bad - some.begin())) + " is "
                                      + std::to_string(*bad) + ", expected finite weights to match",
                                  at);
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
        const model_map own_start = own_map(spec, own);
        const pair_objective<F> objective(anchor_map, anchor, own_start, own);
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
        if (options_.start == descent_start::identity || options_.restarts > 0)
            consider(search.identity_start(), "identity");
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
                                     objective_of(group, before), objective_of(group, best_products), best->last[g].gap});
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

    static double objective_of(const unit_group& group, const std::vector<double>& products) {
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

} // namespace plait::detail
