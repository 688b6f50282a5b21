#pragma once

#include <plait/core/error.hpp>
#include <plait/core/glob.hpp>
#include <plait/merge/any_method.hpp>
#include <plait/merge/merge_method.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait {
namespace detail {

/// What tensors a rule of by_name is for, and their method.
struct name_rule {
    /// The method of a tensor, or null where the rule is not for it.
    std::function<std::shared_ptr<const any_method>(std::string_view tensor)> method_of;
    std::string pattern;
    /// Of a method that looks at all tensors first; else null.
    std::shared_ptr<const any_method> surveying = {};
    std::function<std::string()> describe = {};
};

/// What a method says of itself.
struct method_traits {
    bool needs_deltas, reads_statistics, may_refuse_values;
};
template <class M>
inline constexpr method_traits traits_of{wants_deltas<M>, reads_statistics<M>, may_refuse_values<M>};

template <method_traits Traits>
struct typed_rule : name_rule {};

} // namespace detail

/// A rule of by_name: the method of the tensors whose names match a glob.
template <merge_method M>
detail::typed_rule<detail::traits_of<M>> on(std::string glob, const M& method) {
    const auto erased = std::make_shared<const detail::any_method>(method);
    return {{[glob, erased](std::string_view tensor) { return matches_glob(glob, tensor) ? erased : nullptr; }, glob,
             erased->survey ? erased : nullptr,
             [glob, method] { return "on(" + detail::in_quotes(glob) + ", " + describe(method) + ")"; }}};
}

/// A rule of by_name: a method for every layer. `pattern` is text, then "{l}" for the number of the layer, then a glob;
/// method_at is given the depth, from 0 for the first of `layers` layers to 1 for the last.
///     on_layers("model.layers.{l}.*", 32, [](double depth) { return slerp{.t = gradient{{0, .5, 1}}(depth)}; })
template <std::invocable<double> MethodAt>
    requires merge_method<std::invoke_result_t<MethodAt, double>>
auto on_layers(std::string_view pattern, std::size_t layers, MethodAt method_at) {
    using method = std::invoke_result_t<MethodAt, double>;
    static_assert(!surveying_method<method>, "plait: a method that looks at all tensors first cannot differ from layer "
                                             "to layer: write on(glob, method)");
    const auto depth_of = [](std::size_t layer, std::size_t of) {
        return of > 1 ? static_cast<double>(layer) / static_cast<double>(of - 1) : 0;
    };
    const std::size_t at = pattern.find("{l}");
    if (at == std::string_view::npos || layers == 0 || pattern.substr(0, at).find_first_of("*?") < at)
        throw option_error("a rule for " + std::to_string(layers) + " layers has the pattern "
                           + detail::in_quotes(pattern)
                           + ", expected {l} in it, no * or ? before that, and 1 layer or more");
    const std::string before(pattern.substr(0, at));
    const std::string after(pattern.substr(at + 3));
    return detail::typed_rule<detail::traits_of<method>>{
        {[=](std::string_view tensor) -> std::shared_ptr<const detail::any_method> {
             if (!tensor.starts_with(before)) return nullptr;
             std::size_t layer = 0;
             const char* end = tensor.data() + tensor.size();
             const auto number = std::from_chars(tensor.data() + before.size(), end, layer);
             if (number.ec != std::errc{}) return nullptr;
             if (!matches_glob(after, {number.ptr, static_cast<std::size_t>(end - number.ptr)})) return nullptr;
             if (layer >= layers)
                 throw option_error("the tensor is of layer " + std::to_string(layer) + ", expected one of the "
                                        + std::to_string(layers) + " layers of the rule " + detail::in_quotes(before)
                                        + "{l}",
                                    {.tensor = std::string(tensor)});
             return std::make_shared<const detail::any_method>(method_at(depth_of(layer, layers)));
         },
         std::string(pattern), nullptr,
         [=] {
             std::string text = "on_layers(" + detail::in_quotes(before) + ", " + std::to_string(layers);
             for (std::size_t l = 0; l < layers; ++l) text += ", " + describe(method_at(depth_of(l, layers)));
             return text + ")";
         }}};
}

/// Mixes methods over tensors: each goes by the first rule that is for it. Throws option_error when none is, and
/// on a rule that is for no tensor. A method
/// that looks at all tensors first looks at all of them, whatever its rule.
///     task_vectors{base} | by_name(on("*.mlp.*", ties{.density = .3}), on("*", task_arithmetic{}))
template <detail::method_traits Traits>
class named_methods {
public:
    static constexpr std::string_view name = "by_name";
    static constexpr bool needs_deltas = Traits.needs_deltas;
    static constexpr bool reads_statistics = Traits.reads_statistics;
    static constexpr bool may_refuse_values = Traits.may_refuse_values;

    explicit named_methods(std::vector<detail::name_rule> rules) : rules_(std::move(rules)) {}

    std::string describe() const {
        std::string text;
        for (const auto& rule : rules_) text += (text.empty() ? "" : ", ") + rule.describe();
        return "by_name(" + text + ")";
    }

    class survey_run {
    public:
        struct partial_type {
            std::vector<std::shared_ptr<detail::block_observer>>
                seen; // null where a survey is settled or there is none
            partial_type& operator+=(partial_type&& later) {
                for (std::size_t r = 0; r < seen.size(); ++r)
                    if (seen[r]) seen[r]->add(std::move(*later.seen[r]));
                return *this;
            }
        };

        explicit survey_run(std::vector<std::shared_ptr<detail::block_survey>> surveys)
            : surveys_(std::move(surveys)) {}
        bool is_settled() const {
            for (const auto& s : surveys_)
                if (s && !s->is_settled()) return false;
            return true;
        }
        partial_type partial() const {
            partial_type p;
            for (const auto& s : surveys_) p.seen.push_back(s && !s->is_settled() ? s->observer() : nullptr);
            return p;
        }
        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            for (const auto& seen : p.seen)
                if (seen) seen->observe(b);
        }
        void settle(const partial_type& whole) {
            for (std::size_t r = 0; r < surveys_.size(); ++r)
                if (whole.seen[r]) surveys_[r]->settle(*whole.seen[r]);
        }
        const detail::block_survey* of_rule(std::size_t r) const { return surveys_[r].get(); }

    private:
        std::vector<std::shared_ptr<detail::block_survey>> surveys_; // one per rule, or null
    };

    class run {
    public:
        struct partial_type {
            std::shared_ptr<detail::block_observer> seen;
            partial_type& operator+=(partial_type&& later) {
                seen->add(std::move(*later.seen));
                return *this;
            }
        };

        explicit run(std::shared_ptr<detail::block_combiner> own) : own_(std::move(own)) {}
        bool is_settled() const { return own_->is_settled(); }
        std::size_t elements_together() const { return own_->elements_together(); }
        std::size_t wanted(std::size_t first) const { return own_->wanted(first); }
        partial_type partial() const { return {own_->observer()}; }
        template <std::floating_point F>
        void observe(const block<F>& b, partial_type& p) const {
            p.seen->observe(b);
        }
        bool observe_raw(const raw_block& b, partial_type& p) const { return p.seen->observe(b); }
        void settle(const partial_type& whole) { own_->settle(*whole.seen); }
        template <std::floating_point F>
        void combine(const block<F>& b, std::span<double> out) const {
            own_->combine(b, out);
        }
        bool combine_raw(const raw_block& b, std::byte* out) const { return own_->combine(b, out); }

    private:
        std::shared_ptr<detail::block_combiner> own_;
    };

    survey_run survey(const model_context& models) const {
        for (const auto& rule : rules_)
            if (std::ranges::none_of(models.names, [&](std::string_view t) { return rule.method_of(t) != nullptr; }))
                throw option_error("the rule " + detail::in_quotes(rule.pattern)
                                   + " of by_name is for no tensor, expected one or more");
        std::vector<std::shared_ptr<detail::block_survey>> surveys;
        for (const auto& rule : rules_) surveys.push_back(rule.surveying ? rule.surveying->survey(models) : nullptr);
        return survey_run(std::move(surveys));
    }
    run start(const tensor_context& context, const survey_run& all) const {
        for (std::size_t r = 0; r < rules_.size(); ++r)
            if (const auto method = rules_[r].method_of(context.name))
                return run(method->start(context, all.of_rule(r)));
        throw option_error("no rule of by_name is for this tensor, expected one; on(\"*\", method) is for all",
                           {.tensor = std::string(context.name)});
    }

private:
    std::vector<detail::name_rule> rules_;
};

template <detail::method_traits... Traits>
auto by_name(detail::typed_rule<Traits>... rules) {
    constexpr detail::method_traits any{(Traits.needs_deltas || ...), (Traits.reads_statistics || ...),
                                        (Traits.may_refuse_values || ...)};
    return named_methods<any>({std::move(rules)...});
}

} // namespace plait
