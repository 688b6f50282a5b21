#pragma once

#include <plait/model/model_view.hpp>
#include <plait/spec/bound_spec.hpp>
#include <plait/spec/name_pattern.hpp>
#include <plait/spec/permutation_spec.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// Binds a spec to a checkpoint and collects every fault on the way.
class spec_binder {
public:
    spec_binder(const permutation_spec& spec, const model_view& checkpoint) : spec_(spec) {
        for (std::size_t i : sorted_by_name(checkpoint.tensors())) names_.push_back(&checkpoint.tensors()[i]);
        cover_tensors();
        split_axes();
        resolve_sizes();
        apply_units();
    }

    bound_spec result() && {
        if (!faults_.empty()) {
            std::string all = faults_.size() == 1 ? "the spec does not fit the checkpoint: "
                                                  : "the spec does not fit the checkpoint in "
                                                        + std::to_string(faults_.size()) + " places: ";
            for (std::size_t i = 0; i < faults_.size(); ++i) all += (i ? "; " : "") + faults_[i];
            throw spec_error(all);
        }
        std::vector<bound_tensor> tensors;
        for (draft& d : drafts_) tensors.push_back({std::move(d.name), std::move(d.shape), std::move(d.factors)});
        for (unit_group& g : groups_)
            std::ranges::sort(g.uses, {}, [](const unit_group::use& u) { return std::pair(u.tensor, u.factor); });
        return {std::move(tensors), std::move(groups_)};
    }

private:
    static constexpr std::size_t unknown = 0; // extents of factors and groups are at least 1

    struct draft {
        std::string name;
        plait::shape shape;
        std::optional<std::size_t> rule = {};
        captures found = {};
        std::vector<bound_factor> factors = {};
    };

    void fault(std::string_view what, location at = {}) { faults_.push_back(sentence(at, what)); }

    // Which rule speaks for which tensor; both must not be without a partner.
    void cover_tensors() {
        std::vector<std::size_t> matches(spec_.tensor_rules().size());
        for (const named_tensor* t : names_) {
            draft d{t->name, t->view.shape()};
            std::string claimed;
            const auto claim = [&](std::string_view rule) {
                if (!claimed.empty())
                    fault("two rules match, " + in_quotes(claimed) + " and " + in_quotes(rule) + ", expected one",
                          {.tensor = d.name});
                claimed = rule;
            };
            for (std::size_t r = 0; r < matches.size(); ++r) {
                auto found = match_name(spec_.tensor_rules()[r].name, t->name);
                if (!found) continue;
                ++matches[r];
                claim(spec_.tensor_rules()[r].name);
                d.rule = r;
                d.found = std::move(*found);
            }
            for (const std::string& glob : spec_.fixed_rules())
                if (matches_glob(glob, t->name) && (claimed.empty() || d.rule)) claim("fixed " + glob);
            if (claimed.empty())
                fault("no rule for this tensor of shape " + to_string(d.shape) + "; give its axes or list it as fixed",
                      {.tensor = d.name});
            drafts_.push_back(std::move(d));
        }
        const auto of_tensors = std::exchange(faults_, {}); // a rule that matches nothing is often their cause
        for (std::size_t r = 0; r < matches.size(); ++r)
            if (!matches[r])
                fault("the spec names it, but the checkpoint has no such tensor",
                      {.tensor = spec_.tensor_rules()[r].name});
        faults_.insert(faults_.end(), of_tensors.begin(), of_tensors.end());
    }

    std::size_t group_position(const std::string& name) {
        const auto [it, is_new] = group_index_.emplace(name, groups_.size());
        if (is_new) groups_.push_back({name, unknown});
        return it->second;
    }

    // Turns the words of the patterns into factors; groups are numbered by rule, then by name in natural order.
    void split_axes() {
        std::vector<std::size_t> order(drafts_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            if (drafts_[a].rule != drafts_[b].rule) return drafts_[a].rule < drafts_[b].rule;
            return natural_less(drafts_[a].name, drafts_[b].name);
        });
        for (std::size_t t : order) {
            draft& d = drafts_[t];
            const auto one_per_axis = [&] {
                d.factors.clear();
                for (std::size_t axis = 0; axis < d.shape.rank(); ++axis) d.factors.push_back({axis, d.shape[axis]});
            };
            one_per_axis();
            if (!d.rule) continue;
            const std::string& pattern = spec_.tensor_rules()[*d.rule].axes;
            const auto axes = axes_of(pattern);
            if (axes.size() != d.shape.rank()) {
                fault("the axes " + in_quotes(pattern) + " are " + std::to_string(axes.size())
                          + ", the checkpoint has shape " + to_string(d.shape) + " with "
                          + std::to_string(d.shape.rank()),
                      {.tensor = d.name});
                continue;
            }
            d.factors.clear();
            for (std::size_t axis = 0; axis < axes.size(); ++axis) {
                for (const axis_factor& word : axes[axis]) {
                    bound_factor f{axis, word.extent};
                    if (word.what == axis_factor::kind::group) {
                        f.group = group_position(substitute(word.group, d.found));
                        groups_[*f.group].uses.push_back({t, d.factors.size()});
                    }
                    d.factors.push_back(f);
                }
            }
            const dtype type = names_[t]->view.type();
            if (bits(type) % 8 && std::ranges::any_of(d.factors, [](const auto& f) { return f.group.has_value(); }))
                fault("elements are " + std::string(plait::name(type))
                          + ", which cannot be permuted; expected elements of whole bytes",
                      {.tensor = d.name});
        }
    }

    void set_size(std::size_t group, std::size_t size, const location& at) {
        unit_group& g = groups_[group];
        if (g.size == unknown) {
            g.size = size;
            size_source_[group] = at;
        } else if (g.size != size && clashes_.emplace(at.tensor, at.axis).second) {
            fault("group " + in_quotes(g.name) + " has " + std::to_string(size) + " units here, but "
                      + std::to_string(g.size) + " at " + place(size_source_[group]),
                  at);
        }
    }

    // Sizes spread from axes that know them to those that do not, until nothing changes.
    void resolve_sizes() {
        for (const auto& rule : spec_.size_rules()) {
            bool used = false;
            for (std::size_t g = 0; g < groups_.size(); ++g) {
                if (!match_name(rule.group, groups_[g].name)) continue;
                used = true;
                set_size(g, rule.size, {.tensor = "size rule " + rule.group});
            }
            if (!used) fault("the size of group " + in_quotes(rule.group) + " is given, but no tensor carries it");
        }
        for (bool progress = true; std::exchange(progress, false);)
            for (draft& d : drafts_)
                for (std::size_t begin = 0; begin < d.factors.size();) progress |= resolve_axis(d, begin);
        report_unresolved();
    }

    // One axis, whose factors start at `begin`; moves `begin` behind them. Returns whether something became known.
    bool resolve_axis(draft& d, std::size_t& begin) {
        const std::size_t axis = d.factors[begin].axis;
        std::size_t known = 1;
        bound_factor* open = nullptr;
        std::size_t open_count = 0;
        for (; begin < d.factors.size() && d.factors[begin].axis == axis; ++begin) {
            bound_factor& f = d.factors[begin];
            if (f.extent == unknown && f.group) f.extent = groups_[*f.group].size;
            if (f.extent == unknown && d.shape[axis] != 0) {
                open = &f;
                ++open_count;
            } else if (__builtin_mul_overflow(known, f.extent, &known)) {
                known = SIZE_MAX;
            }
        }
        const location at{.tensor = d.name, .axis = axis};
        if (open_count == 1 && d.shape[axis] % known == 0) {
            open->extent = d.shape[axis] / known;
            if (open->group) set_size(*open->group, open->extent, at);
            return true;
        }
        if (open_count == 0 && known == d.shape[axis]) return false;
        if (open_count == 0 || d.shape[axis] % known != 0) {
            const std::size_t count =
                static_cast<std::size_t>(std::ranges::count(d.factors, axis, &bound_factor::axis));
            const bound_factor& last = d.factors[begin - 1];
            if (count == 1 && last.group)
                set_size(*last.group, d.shape[axis], at);
            else if (clashes_.emplace(d.name, axis).second)
                fault("the axis has " + std::to_string(d.shape[axis]) + ", expected a multiple of "
                          + std::to_string(known) + ", the product of its known factors",
                      at);
        }
        return false;
    }

    void report_unresolved() {
        for (const unit_group& g : groups_) {
            std::set<std::pair<std::size_t, std::size_t>> axes;
            for (const auto& use : g.uses) axes.emplace(use.tensor, drafts_[use.tensor].factors[use.factor].axis);
            if (g.size == unknown)
                fault("the size of group " + in_quotes(g.name)
                      + " does not follow from any tensor; give it with size()");
            else if (axes.size() == 1)
                fault("group " + in_quotes(g.name) + " of " + std::to_string(g.size)
                          + " units is on this axis alone, expected two or more axes, or \"_\"",
                      {.tensor = drafts_[axes.begin()->first].name, .axis = axes.begin()->second});
        }
    }

    void apply_units() {
        std::vector<bool> given(groups_.size());
        for (const auto& rule : spec_.units_rules()) {
            bool used = false;
            for (std::size_t g = 0; g < groups_.size(); ++g) {
                if (!match_name(rule.group, groups_[g].name)) continue;
                used = true;
                if (given[g]) fault("two units rules match group " + in_quotes(groups_[g].name) + ", expected one");
                given[g] = true;
                groups_[g].activation = rule.activation;
            }
            if (!used) fault("the units of group " + in_quotes(rule.group) + " are given, but no tensor carries it");
        }
    }

    const permutation_spec& spec_;
    std::vector<const named_tensor*> names_;
    std::vector<draft> drafts_; // sorted by name, as names_
    std::vector<unit_group> groups_;
    std::map<std::string, std::size_t> group_index_;
    std::map<std::size_t, location> size_source_;
    std::set<std::pair<std::string, std::optional<std::size_t>>> clashes_; // tensors and axes, reported once each
    std::vector<std::string> faults_;
};

} // namespace detail

/// Applies a spec to the names and shapes of a checkpoint.
///
/// Throws one spec_error that lists every fault: tensors without a rule, rules without a tensor, tensors with two
/// rules, wrong numbers of axes, groups whose sizes differ or do not follow, groups on a single axis. Complexity:
/// O(tensors times rules).
inline bound_spec bind(const permutation_spec& spec, const model_view& checkpoint) {
    return detail::spec_binder(spec, checkpoint).result();
}

} // namespace plait
