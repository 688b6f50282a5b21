#pragma once

#include <plait/merge/merge_method.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace plait::detail {

/// What one pass over a tensor has seen.
class block_observer {
public:
    virtual ~block_observer() = default;
    virtual void observe(const block<float>& b) = 0;
    virtual void observe(const block<double>& b) = 0;
    /// Adds what the same pass has seen in later blocks.
    virtual void add(const block_observer& later) = 0;
};

/// The run of any method for one tensor. One virtual call per block costs nothing, and the engine is compiled once.
class block_combiner {
public:
    virtual ~block_combiner() = default;
    /// Whether no pass is left before combine().
    virtual bool is_settled() const = 0;
    virtual std::unique_ptr<block_observer> observer() const = 0;
    virtual void settle(const block_observer& whole) = 0;
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
    template <observing_run Run>
    class observer_of final : public block_observer {
    public:
        explicit observer_of(const Run& run) : run_(run), seen_(run.partial()) {}
        void observe(const block<float>& b) override { run_.observe(b, seen_); }
        void observe(const block<double>& b) override { run_.observe(b, seen_); }
        void add(const block_observer& later) override { seen_ += static_cast<const observer_of&>(later).seen_; }
        const auto& seen() const { return seen_; }

    private:
        const Run& run_;
        typename Run::partial_type seen_;
    };

    template <tensor_run Run>
    class combiner_of final : public block_combiner {
    public:
        explicit combiner_of(Run run) : run_(std::move(run)) {}
        bool is_settled() const override {
            if constexpr (observing_run<Run>)
                return run_.is_settled();
            else
                return true;
        }
        std::unique_ptr<block_observer> observer() const override {
            if constexpr (observing_run<Run>)
                return std::make_unique<observer_of<Run>>(run_);
            else
                return nullptr;
        }
        void settle(const block_observer& whole) override {
            if constexpr (observing_run<Run>) run_.settle(static_cast<const observer_of<Run>&>(whole).seen());
        }
        void combine(const block<float>& b, std::span<double> out) const override { run_.combine(b, out); }
        void combine(const block<double>& b, std::span<double> out) const override { run_.combine(b, out); }

    private:
        Run run_;
    };
};

} // namespace plait::detail
