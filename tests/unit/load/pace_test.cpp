#include "load/pace.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace postal;
using namespace std::chrono_literals;
using load::arrival;
using load::rate_curve;
using load::schedule;

TEST_CASE("pace: a constant schedule is due at multiples of its gap") {
    schedule s(rate_curve::constant({10}), arrival::constant, 1);
    for (int n = 0; n < 100; ++n) {
        CHECK(std::abs((s.due(static_cast<std::uint64_t>(n)) - n * 100ms).count()) < 10);
    }
}

TEST_CASE("pace: numbers may be left out, and equal seeds agree on each") {
    for (arrival how : {arrival::constant, arrival::poisson}) {
        schedule every(rate_curve::constant({30}), how, 7);
        schedule third(rate_curve::constant({30}), how, 7);
        for (std::uint64_t n = 0; n < 300; ++n) {
            const auto due = every.due(n);
            REQUIRE(every.due(n) == due);
            if (n % 3 == 0) REQUIRE(third.due(n) == due);
        }
    }
}

TEST_CASE("pace: a ramp is due where its integral says") {
    const auto stages = load::parse_stages("100/s@10s,100/s@5s,0@10s");
    REQUIRE(stages.has_value());
    const rate_curve curve = rate_curve::ramp({0}, *stages);
    CHECK(curve.length() == 25s);
    CHECK(curve.time_of(0) == 0);
    CHECK(curve.time_of(125) == Approx(5));
    CHECK(curve.time_of(500) == Approx(10));
    CHECK(curve.time_of(700) == Approx(12));
    CHECK(curve.time_of(1000) == Approx(15));
    CHECK(curve.time_of(1375) == Approx(20));
    CHECK(curve.time_of(1500) == Approx(25));
    CHECK(std::isinf(curve.time_of(1501)));
}

TEST_CASE("pace: nothing is due any more after a ramp to nothing") {
    schedule s(rate_curve::ramp({10}, {{{0}, 1s}}), arrival::constant, 1);
    std::uint64_t count = 0;
    while (s.due(count) != std::chrono::nanoseconds::max() && count < 100)
        ++count;
    CHECK(count == 6);  // 0 to 5
}

TEST_CASE("pace: Poisson arrivals have the asked rate and exponential gaps") {
    schedule s(rate_curve::constant({1000}), arrival::poisson, 42);
    std::vector<double> gaps;
    std::chrono::nanoseconds before{0};
    for (std::uint64_t n = 0; n < 20'000; ++n) {
        gaps.push_back(std::chrono::duration<double>(s.due(n) - before).count());
        before = s.due(n);
    }
    CHECK(std::chrono::duration<double>(before).count() == Approx(20).epsilon(0.03));
    // Kolmogorov-Smirnov against the exponential distribution, 1 % level.
    std::sort(gaps.begin(), gaps.end());
    double distance = 0;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
        const double wanted = 1 - std::exp(-1000 * gaps[i]);
        const double n = static_cast<double>(gaps.size());
        distance = std::max({distance, std::abs(wanted - static_cast<double>(i) / n),
                             std::abs(wanted - static_cast<double>(i + 1) / n)});
    }
    CHECK(distance < 1.63 / std::sqrt(static_cast<double>(gaps.size())));
}

TEST_CASE("pace: stages that make no sense are refused") {
    for (const char* text :
         {"", "100/s", "100/s@", "@10s", "x@10s", "10/s@0s", "10/s@10s,", "0@10s", "10/s@-1s"}) {
        INFO(text);
        CHECK_FALSE(load::parse_stages(text).has_value());
    }
}
