#pragma once

#include <plait/merge/merge_method.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace plait::detail {

/// The run of any method for one tensor. One virtual call per block costs nothing, and the engine is compiled once.
class block_combiner {
public:
    virtual ~block_combiner() = default;
    virtual void combine(const block<float>& b, std::span<double> out) const = 0;
    virtual void combine(const block<double>& b, std::span<double> out) const = 0;
};

/// A merge method as the engine sees it.
struct any_method {
    std::function<std::unique_ptr<block_combiner>(const tensor_context&)> start;
    std::string_view name;
    integer_policy integers = integer_policy::must_be_equal; ///< of methods that have a member of this name

    template <merge_method Method>
    explicit any_method(const Method& method) : name(Method::name) {
        start = [method](const tensor_context& context) -> std::unique_ptr<block_combiner> {
            auto run = method.start(context);
            return std::make_unique<combiner_of<decltype(run)>>(std::move(run));
        };
        if constexpr (requires { method.integers; }) integers = method.integers;
    }

private:
    template <tensor_run Run>
    class combiner_of final : public block_combiner {
    public:
        explicit combiner_of(Run run) : run_(std::move(run)) {}
        void combine(const block<float>& b, std::span<double> out) const override { run_.combine(b, out); }
        void combine(const block<double>& b, std::span<double> out) const override { run_.combine(b, out); }

    private:
        Run run_;
    };
};

} // namespace plait::detail
