// SPDX-License-Identifier: GPL-3.0-or-later
// Drift against a regression of NumPy's, and MSER-5 against one written for
// comparison_reference.py.
#include "stats/experiment/validity.hpp"

#include "base/random.hpp"
#include "comparison_reference.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace postal::stats;

namespace {

std::vector<run_in_order> drifting() {
    std::vector<run_in_order> runs;
    for (const auto& [number, block, variant, value] : reference::drifting)
        runs.push_back({number, block, variant, value});
    return runs;
}

std::vector<double> ramp(std::size_t climbing, std::size_t length) {
    postal::base::random_source random(5);
    std::vector<double> rates;
    for (std::size_t i = 0; i < length; ++i)
        rates.push_back((i < climbing ? 50.0 : 100.0) + 0.1 * random.normal());
    return rates;
}

}  // namespace

TEST_CASE("drift: the slope and its interval are those of a regression on run and variant") {
    const auto made = drift_of(drifting());
    REQUIRE(made.has_value());
    CHECK(made->change == Approx(reference::drift[0]).epsilon(1e-6));
    CHECK(made->interval[0] == Approx(reference::drift[1]).epsilon(1e-6));
    CHECK(made->interval[1] == Approx(reference::drift[2]).epsilon(1e-6));
    CHECK(made->shown());
}

TEST_CASE("drift: what variants and blocks differ by is none") {
    std::vector<run_in_order> runs;
    constexpr double levels[] = {1.5, 1, 1, 1.5};
    for (std::size_t block = 0; block < 4; ++block) {
        runs.push_back({2 * block + 1, block, block % 2, 100.0 * levels[block]});
        runs.push_back({2 * block + 2, block, 1 - block % 2, 100.0 * levels[block]});
    }
    for (run_in_order& run : runs)
        if (run.variant == 1) run.value *= 3;
    const auto made = drift_of(runs);
    REQUIRE(made.has_value());
    CHECK(made->change == Approx(0).margin(1e-9));
    CHECK_FALSE(made->shown());
}

TEST_CASE("drift: an exact line has no width, and fewer than three blocks have no line") {
    std::vector<run_in_order> runs;
    for (std::size_t number = 1; number <= 11; ++number)
        runs.push_back({number, number, 0, std::pow(1.01, static_cast<double>(number))});
    const auto exact = drift_of(runs);
    REQUIRE(exact.has_value());
    CHECK(exact->change == Approx(std::pow(1.01, 10) - 1));
    CHECK(exact->interval[0] == Approx(exact->change).epsilon(1e-6));
    CHECK(exact->interval[1] == Approx(exact->change).epsilon(1e-6));
    CHECK(exact->shown());

    using row = std::vector<run_in_order>;
    const row none = GENERATE(
        row{},
        row{{1, 1, 0, 5},
            {2, 1, 0, 6},
            {4, 1, 0, 6},
            {5, 2, 1, 6},
            {6, 2, 1, 7},
            {8, 3, 2, 8},
            {9, 3, 2, 8}},
        row{{1, 1, 0, 5}, {2, 1, 1, 6}, {3, 2, 0, 7}, {4, 2, 1, 8}},
        row{{1, 1, 0, 5}, {2, 2, 1, 6}, {3, 3, 2, 7}},  // each the only one of its variant
        row{{1, 1, 0, 5}, {2, 2, 0, 0}, {3, 3, 0, -1}, {4, 4, 0, std::nan("")}, {5, 5, 0, 6}});
    CHECK_FALSE(drift_of(none).has_value());

    const auto wild = drift_of(row{{1, 1, 0, 1e-300}, {2, 2, 0, 1e300}, {3, 3, 0, 1e-300}});
    REQUIRE(wild.has_value());
    CHECK(std::isfinite(wild->change));
    CHECK(std::isfinite(wild->interval[0]));
    CHECK(std::isfinite(wild->interval[1]));
}

TEST_CASE("MSER-5: series that settle") {
    for (const auto& [values, settles] : reference::settling) {
        CAPTURE(settles);
        const auto made = mser_5(values);
        REQUIRE(made.has_value());
        CHECK(made->intervals == settles);
        CHECK(made->settled == (settles != 50));
    }
    CHECK(mser_5(ramp(20, 100))->intervals == 20);
    CHECK(mser_5(ramp(18, 100))->intervals == 20);  // whole batches
    CHECK(mser_5(ramp(45, 100))->settled);
    CHECK_FALSE(mser_5(ramp(50, 100))->settled);
    std::vector<double> climbing;
    for (int i = 0; i < 100; ++i)
        climbing.push_back(i);
    CHECK_FALSE(mser_5(climbing)->settled);
    CHECK(mser_5(std::vector<double>(50, 7))->intervals == 0);
    CHECK_FALSE(mser_5(std::vector<double>(49, 7)).has_value());
    CHECK_FALSE(mser_5({}).has_value());
}

TEST_CASE("warm-up: too short is one that leaves a beginning in which changes the mean") {
    const auto rates = ramp(20, 100);
    const auto shorter = check_warmup(rates, 10, 0.01);
    REQUIRE(shorter.has_value());
    CHECK(shorter->settles.intervals == 20);
    CHECK(shorter->change == Approx(90.0 * 100 / (80 * 100 + 10 * 50) - 1).epsilon(0.01));
    CHECK(shorter->too_short);
    const auto tolerant = check_warmup(rates, 10, 0.1);
    REQUIRE(tolerant.has_value());
    CHECK_FALSE(tolerant->too_short);
    for (const std::size_t warmup : {20, 30, 99}) {
        const auto enough = check_warmup(rates, warmup, 0.01);
        REQUIRE(enough.has_value());
        CHECK_FALSE(enough->too_short);
        CHECK(std::abs(enough->change) < 0.001);
    }
    CHECK_FALSE(check_warmup(rates, 100, 0.01).has_value());
    CHECK_FALSE(check_warmup(std::vector<double>(100, 0), 10, 0.01).has_value());
    CHECK_FALSE(check_warmup(std::vector<double>(40, 1), 10, 0.01).has_value());
}

TEST_CASE("warm-up: a level series is seldom called too short") {
    postal::base::random_source random(9);
    int called = 0;
    for (int experiment = 0; experiment < 200; ++experiment) {
        std::vector<double> rates(60);
        for (double& rate : rates)
            rate = 100 * (1 + 0.02 * random.normal());
        if (check_warmup(rates, 6, 0.01).value().too_short) ++called;
    }
    CHECK(called <= 4);
}
