#pragma once

#include <plait/core/error.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace plait {

/// How a verb runs; never part of what it computes.
struct run_options {
    int threads = 1;
    /// Told the share of the work that is done, 0 to 1, never falling; one call at a time, from any of the threads. An
    /// exception that it throws stops the run.
    std::function<void(double)> on_progress = {};
};

namespace detail {

inline std::size_t checked_threads(const run_options& options) {
    if (options.threads < 1)
        throw option_error("threads is " + std::to_string(options.threads) + ", expected 1 or more");
    return static_cast<std::size_t>(options.threads);
}

/// Turns finished units of work into calls of on_progress.
class progress {
public:
    progress(const run_options& options, std::size_t total)
        : report_(options.on_progress), total_(total), step_(std::max<std::size_t>(1, total / 100)) {}

    void advance() {
        if (!report_) return;
        const std::lock_guard lock(mutex_);
        if (++done_ % step_ == 0 || done_ == total_) report_(static_cast<double>(done_) / static_cast<double>(total_));
    }

private:
    const std::function<void(double)>& report_;
    std::size_t total_;
    std::size_t step_;
    std::size_t done_ = 0;
    std::mutex mutex_;
};

} // namespace detail

/// f(i) for every i below count, on up to `threads` threads, the caller's among them. After an exception no new index
/// is started, and the exception of the lowest index is thrown: the same one whatever the number of threads.
template <std::invocable<std::size_t> F>
void parallel_for(std::size_t count, std::size_t threads, const F& f) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr fault;
    std::size_t fault_index = count;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                f(i);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (i < fault_index) fault = std::current_exception(), fault_index = i;
                next = count;
            }
        }
    };
    {
        std::vector<std::jthread> helpers;
        const std::size_t wanted = std::min(threads, count);
        try {
            helpers.reserve(wanted);
            while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
        } catch (const std::system_error&) {
            // Fewer threads than asked for do the same work.
        }
        work();
    }
    if (fault) std::rethrow_exception(fault);
}

} // namespace plait
