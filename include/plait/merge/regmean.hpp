#pragma once

#include <plait/core/gathered_view.hpp>
#include <plait/linalg/solve.hpp>
#include <plait/merge/check_options.hpp>
#include <plait/merge/whole_matrix.hpp>
#include <plait/model/model_view.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {

/// For linear layers the weights whose outputs are nearest, in the mean square, to those of every model on its own
/// data: W = (sum c_k W_k G_k) (sum c_k G_k)^-1 with G_k = X^T X of the layer's inputs. All other tensors get the mean.
///
/// `grams` has each model's matrices [in, in], of "fc1.weight" under the name "fc1", in the order of that model's own
/// units: align and permute before such a merge. Throws shape_error on a matrix of another shape, value_error where
/// their sum is singular.   Source: Jin et al. 2023.   Complexity: O(N out in^2 + in^3) per layer.
struct regmean {
    std::vector<model_view> grams = {};
    std::vector<double> weights = {}; ///< empty: all 1
    double off_diagonal = 0.9; ///< what elements off the diagonal of G are multiplied with; below 1 also regularises

    static constexpr std::string_view name = "regmean";
    static constexpr bool may_refuse_values = true;
    static constexpr bool reads_statistics = true;

    detail::whole_matrix start(const tensor_context& context) const {
        if (grams.size() != context.models)
            throw option_error("regmean has " + std::to_string(grams.size()) + " checkpoints of Gram matrices for "
                               + std::to_string(context.models) + " models, expected one per model");
        detail::check_finite("off_diagonal of regmean", off_diagonal);
        const auto w = detail::weights_or_ones(name, weights, context.models);
        std::string layer(context.name);
        if (layer.ends_with(".weight")) layer.resize(layer.size() - 7);
        std::vector<gathered_view> found;
        for (std::size_t k = 0; k < grams.size(); ++k) {
            const named_tensor* t = grams[k].find(layer);
            if (!t && found.empty()) continue;
            if (!t || found.size() != k || context.shape.rank() != 2
                || t->view.shape() != plait::shape(context.shape[1], context.shape[1]))
                throw shape_error("the Gram matrix " + (t ? "has shape " + to_string(t->view.shape()) : "is missing")
                                      + ", expected one per model of " + std::string("inputs x inputs of a tensor ")
                                      + to_string(context.shape),
                                  {.model = k, .tensor = layer});
            found.emplace_back(t->view);
        }
        return {context, 1, [=, scale = off_diagonal, tensor = std::string(context.name)](const auto& models) {
                    return found.empty() ? mean(models, w) : solved(models, found, w, scale, tensor);
                }};
    }

private:
    static detail::matrix mean(const std::vector<detail::matrix>& models, const std::vector<double>& weights) {
        detail::matrix result(models[0].rows, models[0].cols);
        double sum = 0;
        for (const double w : weights) sum += w;
        for (std::size_t k = 0; k < models.size(); ++k)
            for (std::size_t e = 0; e < result.data.size(); ++e) result.data[e] += weights[k] / sum * models[k].data[e];
        return result;
    }

    static detail::matrix solved(const std::vector<detail::matrix>& models, const std::vector<gathered_view>& grams,
                                 const std::vector<double>& weights, double off_diagonal, const std::string& tensor) {
        const std::size_t inputs = models[0].cols;
        detail::matrix sum(inputs, inputs);
        detail::matrix right(models[0].rows, inputs);
        for (std::size_t k = 0; k < models.size(); ++k) {
            detail::matrix gram(inputs, inputs);
            grams[k].read(0, gram.data.size(), gram.data.data());
            for (std::size_t i = 0; i < inputs; ++i)
                for (std::size_t j = 0; j < inputs; ++j) gram(i, j) *= weights[k] * (i == j ? 1 : off_diagonal);
            for (std::size_t e = 0; e < sum.data.size(); ++e) sum.data[e] += gram.data[e];
            multiply_add<double>(op::plain, models[k].view(), op::plain, std::as_const(gram).view(), right.view());
        }
        if (!solve_right(sum.view(), right.view()))
            throw value_error("the sum of the Gram matrices is singular, expected a regular one: more inputs, or "
                              "off_diagonal below 1",
                              {.tensor = tensor});
        return right;
    }
};

} // namespace plait
