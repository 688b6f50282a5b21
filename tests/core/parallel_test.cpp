#include <plait/core/error.hpp>
#include <plait/core/parallel.hpp>
#include <plait/core/random.hpp>

#include "core/fault_of.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace plait;

TEST_CASE("every index runs exactly once, whatever the number of threads") {
    for (const std::size_t threads : {0U, 1U, 2U, 8U}) {
        for (const std::size_t count : {0U, 1U, 3U, 1000U}) {
            std::vector<std::atomic<int>> runs(count);
            parallel_for(count, threads, [&](std::size_t i) { ++runs[i]; });
            for (const auto& n : runs) REQUIRE(n == 1);
        }
    }
}

TEST_CASE("the exception of the lowest index comes through, whatever the number of threads") {
    for (const std::size_t threads : {1U, 2U, 8U}) {
        for (int round = 0; round < 50; ++round) {
            const auto run = [&] {
                parallel_for(200, threads, [](std::size_t i) {
                    if (i % 7 == 6) throw std::out_of_range(std::to_string(i));
                });
            };
            REQUIRE(fault_of<std::out_of_range>(run) == "6");
        }
    }
}

TEST_CASE("the exception of the lowest index comes through, whether it is thrown first or last") {
    using namespace std::chrono_literals;
    for (const std::size_t early : {0U, 1U}) {
        std::atomic<int> running{0};
        const auto run = [&] {
            parallel_for(2, 2, [&](std::size_t i) {
                ++running;
                for (int k = 0; running < 2 && k < 1000; ++k) std::this_thread::sleep_for(1ms); // both at once
                if (i != early) std::this_thread::sleep_for(20ms);
                throw std::out_of_range(std::to_string(i));
            });
        };
        CHECK(fault_of<std::out_of_range>(run) == "0");
    }
}

TEST_CASE("after an exception no new index is started") {
    std::size_t started = 0;
    const auto run = [&] {
        parallel_for(100, 1, [&](std::size_t i) {
            ++started;
            if (i == 3) throw std::runtime_error("stop");
        });
    };
    CHECK(fault_of<std::runtime_error>(run) == "stop");
    CHECK(started == 4);
}

TEST_CASE("progress never falls and ends at 1, whatever the number of threads") {
    for (const std::size_t threads : {1U, 8U}) {
        for (const std::size_t total : {1U, 7U, 100U, 1234U}) {
            std::vector<double> told; // one call at a time
            const run_options options{.on_progress = [&](double share) { told.push_back(share); }};
            detail::progress done(options, total);
            parallel_for(total, threads, [&](std::size_t) { done.advance(); });
            REQUIRE_FALSE(told.empty());
            CHECK(std::is_sorted(told.begin(), told.end()));
            CHECK(told.front() > 0);
            CHECK(told.back() == 1);
            CHECK(told.size() <= 201);
        }
    }
    const run_options silent;
    detail::progress(silent, 3).advance();
}

TEST_CASE("an observer that throws stops the run") {
    const run_options options{.on_progress = [](double) { throw std::runtime_error("enough"); }};
    detail::progress done(options, 10);
    CHECK(fault_of<std::runtime_error>([&] { parallel_for(10, 2, [&](std::size_t) { done.advance(); }); }) == "enough");
}

TEST_CASE("fewer than one thread is refused") {
    CHECK(detail::checked_threads({.threads = 3}) == 3);
    CHECK(says(fault_of<option_error>([] { detail::checked_threads({.threads = 0}); }), "is 0, expected 1 or more"));
    CHECK_THROWS_AS(detail::checked_threads({.threads = -1}), option_error);
}

TEST_CASE("random numbers are a function of seed and position") {
    counter_random a(7);
    counter_random b(7);
    for (std::uint64_t n = 0; n < 100; ++n) {
        const auto x = a();
        CHECK(x == b());
        CHECK(x == counter_random(7).at(n));
    }
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        for (std::uint64_t n = 0; n < 100; ++n) seen.insert(counter_random(seed).at(n));
    CHECK(seen.size() == 10000);
}

TEST_CASE("random numbers stay in their range and fill it evenly") {
    counter_random random(11);
    std::vector<int> histogram(10);
    double mean = 0;
    for (int i = 0; i < 10000; ++i) {
        ++histogram.at(random.below(10));
        const double u = random.uniform();
        REQUIRE((u >= 0 && u < 1));
        mean += u / 10000;
    }
    for (int n : histogram) CHECK((n > 850 && n < 1150)); // five standard deviations
    CHECK((mean > 0.485 && mean < 0.515));
    CHECK(random.below(1) == 0);
}

TEST_CASE("an error says where, and keeps the parts for programs") {
    const shape_error e("found 3, expected 4", {.file = "a.safetensors", .model = 1, .tensor = "fc.weight", .axis = 0});
    CHECK(std::string(e.what()) == "a.safetensors, model 1, tensor \"fc.weight\", axis 0: found 3, expected 4");
    CHECK(e.fault() == "found 3, expected 4");
    CHECK(e.where().tensor == "fc.weight");
    CHECK(e.where().axis == 0U);
    CHECK_FALSE(e.where().offset);
    CHECK(std::string(io_error("cut short", {.line = 3, .offset = 8}).what()) == "line 3, offset 8: cut short");
    CHECK(std::string(option_error("no").what()) == "no");
    STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<shape_error>);
    STATIC_REQUIRE(std::is_base_of_v<error, value_error>);
}
