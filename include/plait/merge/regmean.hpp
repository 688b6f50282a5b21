#pragma once

#include <plait/core/error.hpp>
#include <plait/core/gathered_view.hpp>
#include <plait/linalg/solve.hpp>
#include <plait/merge/check_options.hpp>
#include <plait/merge/whole_matrix.hpp>
#include <plait/model/model_view.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// For linear layers the weights whose outputs are nearest, in the mean square, to those of every model on its own
/// data: W = (sum c_k W_k G_k) (sum c_k G_k)^-1 with G_k = X^T X of the layer's inputs. Inputs that are 0 in all data,
/// and all other tensors, get the weighted mean.
///
/// `grams` has each model's matrices [in, in], of "fc1.weight" [out, in] under the name "fc1", in the order of that
/// model's own units: align and permute before such a merge. Throws option_error on matrices of no layer, shape_error
/// on one that is missing in some models or has another shape, value_error where their sum is singular.
/// Source: Jin et al. 2023.   Complexity: O(N out in^2 + in^3) per layer.
struct regmean {
    std::vector<model_view> grams = {};
    std::vector<double> weights = {}; ///< empty: all 1
    double off_diagonal = 0.9;        ///< share that is kept of what is off the diagonal of G; below 1 regularises

    static constexpr std::string_view name = "regmean";
    static constexpr bool may_refuse_values = true;
    static constexpr bool reads_statistics = true;

    /// Needs no pass: it only knows the names of all tensors.
    struct names_checked {
        struct partial_type {
            partial_type& operator+=(const partial_type&) { return *this; }
        };
        bool is_settled() const { return true; }
        partial_type partial() const { return {}; }
        template <std::floating_point F>
        void observe(const block<F>&, partial_type&) const {}
        void settle(const partial_type&) {}
    };

    names_checked survey(const model_context& models) const {
        if (grams.size() != models.models)
            throw option_error("regmean has " + std::to_string(grams.size()) + " checkpoints of Gram matrices for "
                               + std::to_string(models.models) + " models, expected one per model");
        for (std::size_t k = 0; k < grams.size(); ++k)
            for (const named_tensor& t : grams[k].tensors())
                if (std::ranges::none_of(models.names, [&](std::string_view n) { return layer_of(n) == t.name; }))
                    throw option_error("a Gram matrix of regmean has the name of no layer",
                                       {.model = k, .tensor = t.name});
        return {};
    }

    detail::whole_matrix start(const tensor_context& context, const names_checked&) const {
        detail::check_share("off_diagonal of regmean", off_diagonal);
        const auto w = detail::positive_weights_or_ones(name, weights, context.models);
        const std::string_view layer = layer_of(context.name);
        std::vector<gathered_view> found;
        const auto has = [&](const model_view& g) { return g.find(layer) != nullptr; };
        if (std::ranges::any_of(grams, has)) {
            for (std::size_t k = 0; k < grams.size(); ++k) found.emplace_back(gram_of(k, layer, context.shape));
        }
        return {context, w, 1,
                [=, scale = off_diagonal, tensor = std::string(context.name)](
                    std::span<const matrix_view<const double>> models) -> std::optional<detail::matrix> {
                    if (found.empty()) return {};
                    return solved(models, found, w, scale, tensor);
                }};
    }

private:
    static std::string_view layer_of(std::string_view tensor) {
        constexpr std::string_view suffix = ".weight";
        return tensor.ends_with(suffix) ? tensor.substr(0, tensor.size() - suffix.size()) : tensor;
    }

    const any_tensor_view& gram_of(std::size_t k, std::string_view layer, const plait::shape& weight) const {
        const named_tensor* t = grams[k].find(layer);
        const location at{.model = k, .tensor = std::string(layer)};
        if (!t) throw shape_error("the Gram matrix is missing, expected one of every model or of none", at);
        if (weight.rank() != 2 || t->view.shape() != plait::shape(weight[1], weight[1]))
            throw shape_error("the Gram matrix has shape " + to_string(t->view.shape())
                                  + ", expected inputs x inputs of weights " + to_string(weight),
                              at);
        return t->view;
    }

    static detail::matrix solved(std::span<const matrix_view<const double>> models,
                                 const std::vector<gathered_view>& grams, const std::vector<double>& weights,
                                 double off_diagonal, const std::string& tensor) {
        const std::size_t inputs = models[0].cols();
        detail::matrix sum(inputs, inputs);
        detail::matrix result(models[0].rows(), inputs);
        for (std::size_t k = 0; k < models.size(); ++k) {
            detail::matrix gram(inputs, inputs);
            grams[k].read(0, gram.data.size(), gram.data.data());
            for (std::size_t i = 0; i < inputs; ++i)
                for (std::size_t j = 0; j < inputs; ++j) gram(i, j) *= weights[k] * (i == j ? 1 : off_diagonal);
            for (std::size_t e = 0; e < sum.data.size(); ++e) sum.data[e] += gram.data[e];
            multiply_add<double>(op::plain, models[k], op::plain, std::as_const(gram).view(), result.view());
        }
        if (!std::ranges::all_of(sum.data, [](double x) { return std::isfinite(x); }))
            throw value_error(
                "the Gram matrices have NaN or infinity, or entries whose sum is too large, expected finite ones",
                {.tensor = tensor});
        // With a diagonal of ones the sizes of the inputs do not matter.
        std::vector<double> scale(inputs, 1);
        for (std::size_t j = 0; j < inputs; ++j) {
            if (sum(j, j) > 0)
                scale[j] = 1 / std::sqrt(sum(j, j));
            else
                take_mean(j, models, weights, sum, result);
        }
        for (std::size_t i = 0; i < inputs; ++i)
            for (std::size_t j = 0; j < inputs; ++j) sum(i, j) *= scale[i] * scale[j];
        const auto rescale = [&] {
            for (std::size_t i = 0; i < result.rows; ++i)
                for (std::size_t j = 0; j < inputs; ++j) result(i, j) *= scale[j];
        };
        rescale();
        if (!solve_right(sum.view(), result.view()))
            throw value_error("the sum of the Gram matrices is singular, expected a regular one: more data, or "
                              "off_diagonal below 1",
                              {.tensor = tensor});
        rescale();
        return result;
    }

    // An input that never differs from 0 has nothing to solve.
    static void take_mean(std::size_t input, std::span<const matrix_view<const double>> models,
                          const std::vector<double>& weights, detail::matrix& sum, detail::matrix& result) {
        for (std::size_t j = 0; j < sum.cols; ++j) sum(input, j) = sum(j, input) = j == input ? 1 : 0;
        double total = 0;
        for (const double w : weights) total += w;
        for (std::size_t i = 0; i < result.rows; ++i) {
            result(i, input) = 0;
            for (std::size_t k = 0; k < models.size(); ++k)
                result(i, input) += weights[k] / total * models[k](i, input);
        }
    }
};

} // namespace plait
