#pragma once

#include <plait/fuse/fuse.hpp>
#include <plait/merge/average.hpp>
#include <plait/model/model_list.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// What greedy_soup made: the mean of `members`, positions in the list of models in the order that they were taken.
struct soup : model {
    std::vector<std::size_t> members;
    double score = 0;
};

namespace detail {

template <class Score>
soup make_greedy_soup(std::span<const model_view> models, Score& score, integer_policy integers,
                      const run_options& options) {
    check_same_tensors(models);
    const average method{.integers = integers};
    const auto n = static_cast<double>(models.size());
    const auto step = [&](std::size_t i) {
        return part_of(options, static_cast<double>(i) / n, (static_cast<double>(i) + 1) / n);
    };
    const auto checked = [&](const model_view& m, std::size_t k) {
        const auto s = static_cast<double>(std::invoke(score, m));
        if (!std::isfinite(s))
            throw value_error("the score of a soup is " + std::to_string(s) + ", expected a finite number",
                              {.model = k});
        return s;
    };
    fuse(std::vector<model_view>(models.begin(), models.end()), method,
         {.threads = options.threads}); // whether it can be done

    std::vector<double> alone;
    for (std::size_t k = 0; k < models.size(); ++k) alone.push_back(checked(models[k], k));
    std::vector<std::size_t> order(models.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t k) { return alone[k]; });

    soup best{fuse(std::vector<model_view>{models[order[0]]}, method, step(0)), {order[0]}, alone[order[0]]};
    for (std::size_t i = 1; i < order.size(); ++i) {
        std::vector<model_view> members;
        for (const std::size_t k : best.members) members.push_back(models[k]);
        members.push_back(models[order[i]]);
        soup trial{fuse(members, method, step(i)), best.members, 0};
        trial.members.push_back(order[i]);
        trial.score = checked(model_view(trial), order[i]);
        if (trial.score > best.score) best = std::move(trial);
    }
    return best;
}

} // namespace detail

/// Goes through the models from the best to the worst, and keeps one more in the mean only where that scores more.
/// score(model_view) is larger for better models: accuracy on held-out data, or a negative loss. The models must be
/// aligned already; equal scores keep their order. The uniform soup is fuse(models, average{}).
/// Throws what fuse does, before the first score, and value_error when a score is not finite.
/// Complexity: 2 N - 1 scores and N + 1 merges of up to N models.   Source: Wortsman et al. 2022, Recipe 1.
///     soup s = greedy_soup(models, [&](const model_view& m) { return accuracy(m, held_out); });
template <std::invocable<const model_view&> Score>
soup greedy_soup(model_list models, Score score, integer_policy integers = integer_policy::must_be_equal,
                 const run_options& options = {}) {
    return detail::make_greedy_soup(std::span(models.begin(), models.size()), score, integers, options);
}
template <model_range Models, std::invocable<const model_view&> Score>
soup greedy_soup(const Models& models, Score score, integer_policy integers = integer_policy::must_be_equal,
                 const run_options& options = {}) {
    const auto views = detail::views_of(models);
    return detail::make_greedy_soup(std::span<const model_view>(views), score, integers, options);
}

} // namespace plait
