#pragma once

#include <plait/core/matrix_view.hpp>
#include <plait/merge/merge_method.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
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

/// The run of methods that work on whole matrices: tensors of rank 2. All others get the mean. Memory: one tensor of
/// every model at a time and thread, in double.
class whole_matrix {
public:
    /// Given one matrix per model.
    using function = std::function<matrix(const std::vector<matrix>&)>;

    whole_matrix(const tensor_context& context, double lambda, function merge)
        : shape_(context.shape), lambda_(lambda), merge_(std::move(merge)) {}

    std::size_t elements_together() const { return is_matrix() ? shape_.size() : 1; }

    template <std::floating_point F>
    void combine(const block<F>& b, std::span<double> out) const {
        if (is_matrix()) {
            std::vector<matrix> models;
            for (const auto& x : b.values) {
                models.emplace_back(shape_[0], shape_[1]);
                for (std::size_t e = 0; e < x.size(); ++e) models.back().data[e] = static_cast<double>(x[e]);
            }
            const matrix merged = merge_(models);
            for (std::size_t e = 0; e < out.size(); ++e) out[e] = lambda_ * merged.data[e];
            return;
        }
        for (std::size_t e = 0; e < out.size(); ++e) {
            double sum = 0;
            for (const auto& x : b.values) sum += static_cast<double>(x[e]);
            out[e] = lambda_ * sum / static_cast<double>(b.values.size());
        }
    }

private:
    bool is_matrix() const { return shape_.rank() == 2 && shape_.size() > 0; }

    plait::shape shape_;
    double lambda_;
    function merge_;
};

} // namespace plait::detail
