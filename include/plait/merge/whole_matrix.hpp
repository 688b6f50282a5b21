#pragma once

#include <plait/core/matrix_view.hpp>
#include <plait/merge/weighted_sum.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace plait::detail {

/// A matrix of doubles that owns its memory, row-major.
struct matrix {
    std::size_t rows, cols;
    std::vector<double> data;

    matrix(std::size_t r, std::size_t c) : rows(r), cols(c), data(r * c) {}
    double& operator()(std::size_t i, std::size_t j) { return data[i * cols + j]; }
    double operator()(std::size_t i, std::size_t j) const { return data[i * cols + j]; }
    matrix_view<double> view() { return {data.data(), rows, cols}; }
    matrix_view<const double> view() const { return {data.data(), rows, cols}; }
};

/// The run of methods that work on whole matrices: tensors of rank 2. All others get the weighted mean. Memory: one
/// tensor of every model at a time and thread, in double, and what the function makes.
class whole_matrix {
public:
    /// Given one matrix per model, of one shape. Nothing: the weighted mean.
    using function = std::function<std::optional<matrix>(std::span<const matrix_view<const double>>)>;

    /// The weights are positive.
    whole_matrix(const tensor_context& context, std::vector<double> weights, double lambda, function merge)
        : shape_(context.shape), weights_(std::move(weights)), lambda_(lambda), merge_(std::move(merge)) {
        double sum = 0;
        for (const double w : weights_) sum += w;
        for (double& w : weights_) w /= sum;
    }

    std::size_t elements_together() const { return is_matrix() ? shape_.size() : 1; }

    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        if (const auto merged = merged_of(b))
            std::ranges::copy(merged->data, out.begin());
        else
            weighted_sum(b, weights_, 0, out);
        for (double& x : out) x *= lambda_;
    }

private:
    bool is_matrix() const { return shape_.rank() == 2 && shape_.size() > 0; }

    template <std::floating_point F>
    std::optional<matrix> merged_of(const block<F>& b) const {
        if (!is_matrix()) return {};
        std::vector<matrix_view<const double>> models;
        std::vector<std::vector<double>> wide; // of floats
        wide.reserve(b.values.size());
        for (const auto& x : b.values) {
            const double* data = nullptr;
            if constexpr (std::same_as<F, double>)
                data = x.data();
            else
                data = wide.emplace_back(x.begin(), x.end()).data();
            models.emplace_back(data, shape_[0], shape_[1]);
        }
        return merge_(models);
    }

    plait::shape shape_;
    std::vector<double> weights_;
    double lambda_;
    function merge_;
};

} // namespace plait::detail
