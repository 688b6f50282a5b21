#pragma once

#include <plait/align/model_map.hpp>
#include <plait/align/unit_squares.hpp>
#include <plait/model/model_view.hpp>
#include <plait/spec/bound_spec.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace plait::detail {

/// Whether a scale of a unit can move from its writers to its readers: all tensors are floating point, and every vector
/// of the group must be the bias of one writer. The running statistics of a normalisation would be a second vector,
/// which a scale leaves wrong.
inline bool can_scale(const bound_spec& spec, const unit_group& group, const model_view& model) {
    std::size_t writers = 0;
    std::size_t vectors = 0;
    std::size_t readers = 0;
    for (const auto& use : group.uses) {
        const bound_tensor& t = spec.tensors()[use.tensor];
        if (!is_floating(model.at(t.name).type())) return false;
        const bool is_written = t.factors[use.factor].axis == 0;
        writers += is_written && t.shape.rank() > 1;
        vectors += t.shape.rank() == 1;
        readers += !is_written;
    }
    return writers > 0 && readers > 0 && vectors <= writers;
}

/// Scales that make the norms of what writes and what reads each unit equal, for every group of rectified units.
///
/// w_in s and w_out / s leave relu(w_in x) w_out as it is. A tensor between two groups belongs to both, so passes over
/// the groups repeat until no scale moves by more than 1e-6. Units with nothing on one side stay as they are.
class balancer {
public:
    /// Throws spec_error when the spec calls a group relu whose units cannot be scaled, option_error when it calls none
    /// so.
    balancer(std::shared_ptr<const bound_spec> spec, const model_view& model) : spec_(std::move(spec)), model_(model) {
        for (const unit_group& g : spec_->groups()) {
            if (g.activation == activation::relu && !can_scale(*spec_, g, model))
                throw spec_error(
                    "balance cannot scale the units of group " + in_quotes(g.name)
                    + ": floating point, a writer, a reader and at most one vector per writer are expected; "
                      "call the group opaque when a normalisation stands between");
            scales_.emplace_back(g.size, 1.0);
        }
        if (std::ranges::find(spec_->groups(), activation::relu, &unit_group::activation) == spec_->groups().end())
            throw option_error("balance is on, but no unit group of the spec is relu; say so with units(group, "
                               "activation::relu), or \"units GROUP relu\" in a spec file");
    }

    model_map result() && {
        constexpr int max_passes = 100;
        for (int pass = 0; pass < max_passes; ++pass) {
            double largest = 0;
            for (std::size_t g = 0; g < scales_.size(); ++g)
                if (spec_->groups()[g].activation == activation::relu) largest = std::max(largest, balance(g));
            if (largest <= 1e-6) break;
        }
        std::vector<unit_map> maps;
        for (std::size_t g = 0; g < scales_.size(); ++g) {
            auto order = permutation::identity(scales_[g].size());
            if (spec_->groups()[g].activation == activation::relu)
                maps.emplace_back(std::move(order), std::move(scales_[g]));
            else
                maps.emplace_back(std::move(order));
        }
        return {spec_, std::move(maps)};
    }

private:
    // One group; the largest change of a scale, relative.
    double balance(std::size_t g) {
        const unit_group& group = spec_->groups()[g];
        std::vector<double> written(group.size);
        std::vector<double> read(group.size);
        for (const auto& use : group.uses) {
            const bound_tensor& t = spec_->tensors()[use.tensor];
            add_squares(t, use.factor, t.factors[use.factor].axis == 0 ? written : read);
        }
        double largest = 0;
        for (std::size_t i = 0; i < group.size; ++i) {
            const double ratio = std::sqrt(std::sqrt(read[i] / written[i])); // of squares: the root of the norms' ratio
            if (!std::isfinite(ratio) || ratio == 0) continue;
            scales_[g][i] *= ratio;
            largest = std::max(largest, std::fabs(ratio - 1));
        }
        return largest;
    }

    // Adds the squares of every unit's elements along one factor, under the scales so far.
    void add_squares(const bound_tensor& t, std::size_t factor, std::vector<double>& sums) const {
        std::vector<std::vector<double>> factor_scales(t.factors.size());
        const any_tensor_view& v = model_.at(t.name);
        auto levels = levels_of(t, v, [](std::size_t) -> const unit_map* { return nullptr; });
        for (std::size_t f = 0; f < levels.size(); ++f) {
            if (!t.factors[f].group) continue;
            factor_scales[f] = scales_[*t.factors[f].group];
            if (t.factors[f].axis != 0)
                for (double& s : factor_scales[f]) s = 1 / s;
            levels[f].scale = factor_scales[f].data();
        }
        std::size_t inner = 1;
        for (std::size_t f = factor + 1; f < t.factors.size(); ++f) inner *= t.factors[f].extent;
        add_unit_squares({v.type(), v.bytes(), levels}, inner, sums);
    }

    std::shared_ptr<const bound_spec> spec_;
    const model_view& model_;
    std::vector<std::vector<double>> scales_;
};

} // namespace plait::detail
