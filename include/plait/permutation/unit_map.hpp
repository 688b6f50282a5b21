#pragma once

#include <plait/permutation/permutation.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// What is done to the units of one group: unit i of the result is unit p[i] of the input, its writers multiplied by
/// scale[i] and its readers divided by scale[i]. Without scales it is the permutation alone.
class unit_map {
public:
    unit_map() = default;
    explicit unit_map(plait::permutation p) : permutation_(std::move(p)) {}

    /// Throws shape_error unless there is one scale per unit, value_error unless all are finite, and their
    /// reciprocals too.
    unit_map(plait::permutation p, std::vector<double> scales)
        : permutation_(std::move(p)), scales_(std::move(scales)), reciprocals_(scales_) {
        if (scales_.size() != permutation_.size())
            throw shape_error("a map of " + std::to_string(permutation_.size()) + " units has "
                              + std::to_string(scales_.size()) + " scales, expected one per unit");
        for (double& s : reciprocals_) {
            if (!std::isfinite(s) || !std::isfinite(1 / s))
                throw value_error("a scale of a unit map is " + std::to_string(s)
                                  + ", expected that it and its reciprocal are finite");
            s = 1 / s;
        }
    }

    std::size_t size() const { return permutation_.size(); }
    bool is_permutation() const { return scales_.empty(); }
    const plait::permutation& permutation() const { return permutation_; }

    /// Factors of the writers, one per unit of the result; empty when the map is a permutation.
    const std::vector<double>& scales() const { return scales_; }
    /// Factors of the readers, 1 / scales().
    const std::vector<double>& reciprocals() const { return reciprocals_; }

    bool operator==(const unit_map& other) const {
        return permutation_ == other.permutation_ && scales_ == other.scales_;
    }

private:
    plait::permutation permutation_;
    std::vector<double> scales_;
    std::vector<double> reciprocals_;
};

} // namespace plait
