// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/clock.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <random>

using namespace std::chrono_literals;
using postal::cluster::clock_estimate;
using std::chrono::nanoseconds;

namespace {

// Another machine's clock, and the ways there and back.
struct other {
    nanoseconds ahead{};
    double drift = 0;  // seconds that it gains in a second of ours

    nanoseconds truth(nanoseconds ours) const {
        return ahead + nanoseconds(std::llround(drift * static_cast<double>(ours.count())));
    }
};

struct network {
    std::mt19937_64 random{1};
    nanoseconds least_there = 20us, least_back = 20us;
    nanoseconds mean_more = 50us;

    nanoseconds way(nanoseconds least) {
        std::exponential_distribution<double> more(1 / static_cast<double>(mean_more.count()));
        return least + nanoseconds(std::llround(more(random)));
    }
    // Asks so many times; the time behind the last answer.
    nanoseconds burst(clock_estimate& into, const other& clock, nanoseconds at, int answers) {
        for (; answers > 0; --answers) {
            const nanoseconds read = at + way(least_there);
            const nanoseconds heard = read + way(least_back);
            into.add({at, read + clock.truth(read), heard});
            at = heard;
        }
        into.end_burst();
        return at;
    }
};

// Answers are whole nanoseconds.
constexpr nanoseconds rounding = 3ns;

nanoseconds size(nanoseconds of) {
    return of.count() < 0 ? -of : of;
}

}  // namespace

TEST_CASE("a clock that was never read is not known") {
    clock_estimate none;
    CHECK_FALSE(none.known());
    CHECK(none.offset(5s) == 0ns);
    CHECK(none.bound(5s) == 0ns);
    CHECK(none.drift() == 0);
    none.end_burst();
    CHECK_FALSE(none.known());
    none.add({5s, 6s, 4s});  // heard before it was asked
    none.end_burst();
    CHECK_FALSE(none.known());
}

TEST_CASE("the truth lies within the bound, however the ways are split") {
    for (const nanoseconds ahead : {nanoseconds(1000s), nanoseconds(-3s), nanoseconds(0)}) {
        for (const auto& [there, back] :
             {std::pair(0us, 900us), std::pair(900us, 0us), std::pair(10us, 10us)}) {
            for (unsigned seed = 0; seed < 50; ++seed) {
                network ways;
                ways.random.seed(seed);
                ways.least_there = there;
                ways.least_back = back;
                clock_estimate estimate;
                const nanoseconds at = ways.burst(estimate, {ahead, 0}, 7s, 60);
                INFO(ahead.count() << " ns ahead, seed " << seed);
                REQUIRE(size(estimate.offset(at) - ahead) <= estimate.bound(at));
                REQUIRE(estimate.bound(at) < 600us);
                REQUIRE(estimate.drift() == 0);
            }
        }
    }
}

TEST_CASE("a way that takes no time leaves no doubt") {
    clock_estimate exact;
    exact.add({5s, 8s, 5s});
    exact.end_burst();
    CHECK(exact.offset(5s) == 3s);
    CHECK(exact.bound(5s) == 0ns);
}

TEST_CASE(
    "of a burst the fastest answer counts, of bursts the one that says most about that time") {
    clock_estimate estimate;
    estimate.add({0s, 10s, 2ms});
    estimate.add({1s, 11s, 1s + 2us});
    estimate.add({2s, 12s, 2s + 5ms});
    estimate.end_burst();
    CHECK(estimate.bound(1s + 1us) == 1002ns);
    estimate.add({11s, 21s, 11s + 20us});
    estimate.end_burst();
    CHECK(size(estimate.bound(11s + 10us) - 10us) < 20ns);
    CHECK(size(estimate.bound(1s + 1us) - 1us) < 20ns);
}

TEST_CASE("away from a burst the bound grows by what two clocks may do, however they went") {
    clock_estimate estimate;
    estimate.add({0s, 5s, 100us});
    estimate.end_burst();
    // 500 ppm each, against each other.
    const auto near = [](nanoseconds one, nanoseconds other) {
        return size(one - other) <= other / 500;
    };
    CHECK(near(estimate.bound(50us), 50us));
    CHECK(near(estimate.bound(50us + 10s), 50us + 10ms));
    CHECK(near(estimate.bound(50us - 10s), 50us + 10ms));
    estimate.add({100s, 105s, 100s + 100us});
    estimate.end_burst();
    // Two ends 100 s apart that agree: between them the clocks may have gone apart and come back.
    CHECK(near(estimate.bound(50us + 50s), 50us + 50ms));
    CHECK(near(estimate.bound(50us + 99s), 50us + 1ms));
    CHECK(near(estimate.bound(50us + 150s), 50us + 50ms));
    CHECK(estimate.drift() == 0);
    // What the kernels say counts instead.
    clock_estimate slewed;
    slewed.add({0s, 5s, 100us});
    slewed.end_burst(0.1);
    CHECK(near(slewed.bound(50us + 10s), 1s + 55us));
}

TEST_CASE("a drift is found to within its doubt, and foretold with it") {
    for (const double drift : {100e-6, -100e-6, 1e-6}) {
        for (unsigned seed = 0; seed < 20; ++seed) {
            network ways;
            ways.random.seed(seed);
            const other clock{1000s, drift};
            clock_estimate estimate;
            nanoseconds at = 0s;
            for (int burst = 0; burst < 20; ++burst) {
                at = 2s * burst;
                const nanoseconds over = ways.burst(estimate, clock, at, burst == 0 ? 60 : 12);
                INFO("drift " << drift << ", seed " << seed << ", burst " << burst);
                // Now, in a minute, and half a minute ago.
                for (const nanoseconds when : {over, over + 60s, over - 30s})
                    REQUIRE(size(estimate.offset(when) - clock.truth(when)) <=
                            estimate.bound(when) + rounding);
            }
            // Each of the two ends may be wrong by its bound, 30 s or more apart.
            const double doubt = 200e-6 / 30;
            REQUIRE(std::abs(estimate.drift() - drift) <= doubt);
            if (std::abs(drift) > 10e-6) REQUIRE(estimate.drift() != 0);
        }
    }
}

TEST_CASE("a drift that the errors can explain is none") {
    clock_estimate estimate;
    estimate.add({0s, 5s, 100us});
    estimate.end_burst();
    estimate.add({10s, 15s + 60us, 10s + 100us});
    estimate.end_burst();
    CHECK(estimate.drift() == 0);
}

TEST_CASE("a long run holds few bursts and still finds the drift") {
    network ways;
    const other clock{-3s, 50e-6};
    clock_estimate estimate;
    nanoseconds over{};
    for (int burst = 0; burst < 1000; ++burst)
        over = ways.burst(estimate, clock, 2s * burst, 12);
    CHECK(estimate.drift() == Approx(50e-6).epsilon(0.01));
    for (const nanoseconds when : {nanoseconds(0s), nanoseconds(1000s), over})
        CHECK(size(estimate.offset(when) - clock.truth(when)) <= estimate.bound(when) + rounding);
    CHECK(estimate.bound(over) < 200us);
    CHECK(estimate.steps() == 0);
}

TEST_CASE("a clock that was set is told from one that drifts") {
    struct change {
        nanoseconds by;
        std::uint64_t steps;
        const char* reason;
    };
    // Bursts of 2 us lie 2 s apart: 2 ms is what 1,000 ppm explain.
    for (const change& each : {change{0s, 0, "nothing"}, change{1900us, 0, "a drift"},
                               change{-1900us, 0, "one to the other side"},
                               change{2100us, 1, "a step"}, change{-1s, 1, "back"}}) {
        INFO(each.reason);
        clock_estimate estimate;
        for (int burst = 0; burst < 40; ++burst) {
            const nanoseconds at = 2s * burst;
            const nanoseconds ahead = 5s + (burst >= 20 ? each.by : 0s);
            estimate.add({at, at + 1us + ahead, at + 2us});
            estimate.end_burst();
        }
        CHECK(estimate.steps() == each.steps);
        CHECK(estimate.largest_step() == (each.steps > 0 ? each.by : 0s));
        if (each.steps > 0) {
            // Before it and behind it each side is known; nobody knows when between the two it was.
            CHECK(estimate.offset(1us) == 5s);
            CHECK(estimate.offset(78s + 1us) == 5s + each.by);
            CHECK(estimate.drift() == 0);
        }
    }
    clock_estimate between;
    for (const auto& [at, ahead] : {std::pair(0s, 5s), std::pair(10s, 8s)}) {
        between.add({at, at + 1us + ahead, at + 2us});
        between.end_burst();
    }
    for (const nanoseconds truth : {5s, 8s})
        CHECK(size(between.offset(3s) - truth) <= between.bound(3s));
}
