// SPDX-License-Identifier: GPL-3.0-or-later
#include "load/pace.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

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

TEST_CASE("pace: what is due when a plateau of rate 0 begins is due then, not at its end") {
    struct plateau {
        const char* stages;
        double start;
        double position;
        double wanted_s;
        const char* reason;
    };
    for (const plateau& each : {
             plateau{"10/s@10s,0@1s,0@1m,10/s@1s", 10, 105, 11, "between two ramps"},
             plateau{"10/s@10s,0@1s,0@1m,10/s@1s", 10, 106, 71 + std::sqrt(0.2), "behind it"},
             plateau{"10/s@10s,0@1s,0@30s,0@30s,10/s@1s", 10, 105, 11, "two plateaus in a row"},
             plateau{"10/s@10s,0@1s,0@1m", 10, 105, 11, "the last stage"},
             plateau{"0.3/s@10s,0@700ms,0@1m,1/s@1s", 0.1, 2.105, 10.7, "sums that are rounded"},
             plateau{"0@10s,10/s@1s", 0, 0, 10, "nothing was ever due before it"},
         }) {
        INFO(each.reason);
        const auto stages = load::parse_stages(each.stages);
        REQUIRE(stages.has_value());
        CHECK(rate_curve::ramp({each.start}, *stages).time_of(each.position) ==
              Approx(each.wanted_s));
    }
}

TEST_CASE("pace: due times are where the curve first reaches each number") {
    base::random_source random(27);
    for (int round = 0; round < 300; ++round) {
        std::vector<load::ramp_stage> stages;
        for (std::uint64_t count = 1 + random.below(6); count > 0; --count) {
            const double rate = random.below(3) == 0 ? 0 : static_cast<double>(random.below(40));
            stages.push_back({{rate}, std::chrono::milliseconds(100 * (1 + random.below(50)))});
        }
        const rate_curve curve =
            rate_curve::ramp({static_cast<double>(1 + random.below(20))}, stages);
        const double end_s = std::chrono::duration<double>(curve.length()).count();
        double before_s = 0;
        for (double number = 1; number <= std::floor(curve.due_until(end_s) + 1e-9); ++number) {
            const double due_s = curve.time_of(number);
            INFO("round " << round << ", message " << number << " at " << due_s);
            REQUIRE(std::abs(curve.due_until(due_s) - number) < 1e-9);
            // A quarter of a millisecond earlier it was not reached; where the rate is about 0 the
            // curve is too flat there to show a millisecond.
            REQUIRE(curve.due_until(due_s - 0.25e-3) < number);
            REQUIRE(due_s >= before_s);
            before_s = due_s;
        }
    }
}

TEST_CASE("pace: numbers are asked for again until they are forgotten") {
    for (arrival how : {arrival::constant, arrival::poisson}) {
        schedule straight(rate_curve::constant({30}), how, 7);
        std::vector<std::chrono::nanoseconds> due;
        for (std::uint64_t n = 0; n < 300; ++n)
            due.push_back(straight.due(n));
        schedule back(rate_curve::constant({30}), how, 7);
        for (std::uint64_t n = 0; n + 12 < due.size(); n += 1 + n % 5) {
            back.forget_below(n);
            for (std::uint64_t ahead : {9U, 0U, 4U, 4U, 11U, 1U})
                REQUIRE(back.due(n + ahead) == due[n + ahead]);
        }
    }
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

TEST_CASE("pace: a schedule that is extended has as many messages as was said, and none between") {
    for (const double put_off : {0.0, 0.5}) {
        schedule s(rate_curve::constant({0}), arrival::constant, 1);
        CHECK(s.due(0, 0.5) == std::chrono::nanoseconds::max());
        s.extend(2s, 1s, 3);
        s.extend(10s, 100ms, 1000);
        s.extend(10100ms, 1s, 7);  // at once behind the one before
        std::vector<std::chrono::nanoseconds> due;
        for (std::uint64_t n = 0; n < 1010; ++n)
            due.push_back(s.due(n, put_off));
        CHECK(s.due(1010, 0.5) == std::chrono::nanoseconds::max());
        CHECK(std::is_sorted(due.begin(), due.end()));
        if (put_off == 0) continue;
        const auto within = [&](std::chrono::nanoseconds from, std::chrono::nanoseconds to) {
            return std::count_if(due.begin(), due.end(),
                                 [&](auto one) { return one >= from && one < to; });
        };
        CHECK(within(2s, 3s) == 3);
        CHECK(within(10s, 10100ms) == 1000);
        CHECK(within(10100ms, 11100ms) == 7);
    }
}
