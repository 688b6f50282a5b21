#pragma once

#include <plait/merge/merge_method.hpp>

#include <cstddef>
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
    /// False where it has to be widened first.
    virtual bool observe(const raw_block& b) = 0;
    /// Adds what the same pass has seen in later blocks.
    virtual void add(block_observer&& later) = 0;
};

/// What looks at blocks before anything is combined. One virtual call per block costs nothing, and the engine is
/// compiled once.
class block_survey {
public:
    virtual ~block_survey() = default;
    /// Whether no pass is left.
    virtual bool is_settled() const = 0;
    /// How many elements of the block that begins with this one the next pass has to see.
    virtual std::size_t wanted(std::size_t first) const = 0;
    virtual std::unique_ptr<block_observer> observer() const = 0;
    virtual void settle(const block_observer& whole) = 0;
};

/// The run of any method for one tensor.
class block_combiner : public block_survey {
public:
    /// Blocks hold a multiple of so many elements.
    virtual std::size_t elements_together() const = 0;
    virtual void combine(const block<float>& b, std::span<double> out) const = 0;
    virtual void combine(const block<double>& b, std::span<double> out) const = 0;
    virtual bool takes_raw() const = 0; ///< perhaps
    /// False where it has to be widened first.
    virtual bool combine(const raw_block& b, std::byte* out) const = 0;
};

/// A merge method as the engine sees it.
struct any_method {
    /// Null for methods that need none.
    std::function<std::unique_ptr<block_survey>(const model_context&)> survey;
    /// Given the survey, which outlives the run, or null.
    std::function<std::unique_ptr<block_combiner>(const tensor_context&, const block_survey*)> start;
    std::string_view name;
    integer_policy integers = integer_policy::must_be_equal; ///< of methods that have a member of this name
    bool has_integers = false;                               ///< whether it has

    template <merge_method Method>
    explicit any_method(const Method& method) : name(Method::name) {
        if constexpr (surveying_method<Method>) {
            using watcher = survey_of<decltype(method.survey(model_context{}))>;
            survey = [method](const model_context& models) -> std::unique_ptr<block_survey> {
                return std::make_unique<watcher>(method.survey(models));
            };
            start = [method](const tensor_context& context, const block_survey* seen) {
                return combiner(method.start(context, static_cast<const watcher*>(seen)->watcher()));
            };
        } else {
            start = [method](const tensor_context& context, const block_survey*) {
                return combiner(method.start(context));
            };
        }
        if constexpr (requires { method.integers; }) {
            integers = method.integers;
            has_integers = true;
        }
    }

private:
    template <block_watcher Watcher>
    class observer_of final : public block_observer {
    public:
        explicit observer_of(const Watcher& watcher) : watcher_(watcher), seen_(watcher.partial()) {}
        void observe(const block<float>& b) override { watcher_.observe(b, seen_); }
        void observe(const block<double>& b) override { watcher_.observe(b, seen_); }
        bool observe(const raw_block& b) override {
            if constexpr (raw_watcher<Watcher>)
                return watcher_.observe_raw(b, seen_);
            else
                return false;
        }
        void add(block_observer&& later) override { seen_ += std::move(static_cast<observer_of&>(later).seen_); }
        const auto& seen() const { return seen_; }

    private:
        const Watcher& watcher_;
        typename Watcher::partial_type seen_;
    };

    template <block_watcher Watcher>
    class survey_of final : public block_survey {
    public:
        explicit survey_of(Watcher watcher) : watcher_(std::move(watcher)) {}
        bool is_settled() const override { return watcher_.is_settled(); }
        std::size_t wanted(std::size_t first) const override {
            if constexpr (choosy_watcher<Watcher>)
                return watcher_.wanted(first);
            else
                return all_elements;
        }
        std::unique_ptr<block_observer> observer() const override {
            return std::make_unique<observer_of<Watcher>>(watcher_);
        }
        void settle(const block_observer& whole) override {
            watcher_.settle(static_cast<const observer_of<Watcher>&>(whole).seen());
        }
        const Watcher& watcher() const { return watcher_; }

    private:
        Watcher watcher_;
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
        std::size_t wanted(std::size_t first) const override {
            if constexpr (choosy_watcher<Run>)
                return run_.wanted(first);
            else
                return all_elements;
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
        std::size_t elements_together() const override {
            if constexpr (grouping_run<Run>)
                return run_.elements_together();
            else
                return 1;
        }
        void combine(const block<float>& b, std::span<double> out) const override { run_.combine(b, out); }
        void combine(const block<double>& b, std::span<double> out) const override { run_.combine(b, out); }
        bool takes_raw() const override { return raw_run<Run>; }
        bool combine(const raw_block& b, std::byte* out) const override {
            if constexpr (raw_run<Run>)
                return run_.combine_raw(b, out);
            else
                return false;
        }

    private:
        Run run_;
    };

    template <tensor_run Run>
    static std::unique_ptr<block_combiner> combiner(Run run) {
        return std::make_unique<combiner_of<Run>>(std::move(run));
    }
};

} // namespace plait::detail
