// SPDX-License-Identifier: GPL-3.0-or-later
// The rate of a run: which intervals it is of, and how sure it is.
#include "stats/rate.hpp"

#include "stats/run_report.hpp"
#include "stats/summary.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace postal::stats;
using test::counted;

TEST_CASE("rate: how sure the mean is depends on how alike neighbouring intervals are") {
    const auto rate_of = [](const std::vector<std::uint64_t>& messages) {
        run_report report(test::description());
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const double start = static_cast<double>(i) * 60;
            report.add_time_slice(counted(start, start + 60, messages[i]));
        }
        return report.rate();
    };
    SECTION("independent ones") {
        std::vector<std::uint64_t> even;
        for (int i = 0; i < 10; ++i)
            even.insert(even.end(), {90, 110});
        const auto rate = rate_of(even);
        CHECK(rate.effective == Approx(20));
        // t(0.975, 19) = 2.09302, stddev 10.2598
        REQUIRE(rate.ci95.has_value());
        CHECK((*rate.ci95)[1] - 100 == Approx(2.09302 * 10.2598 / std::sqrt(20)).epsilon(1e-4));
        CHECK_FALSE(rate.trend.has_value());
        even.pop_back();
        CHECK_FALSE(rate_of(even).ci95.has_value());
    }
    SECTION("equal ones are no less than so many, however their mean is rounded") {
        for (int n = 20; n < 40; ++n) {
            run_report report(test::description());
            for (int i = 0; i < n; ++i)
                report.add_time_slice(counted(i * 59.9, i * 59.9 + 59.9, 7));
            CHECK(report.rate().effective == Approx(n));
            REQUIRE(report.rate().ci95.has_value());
            // One message more or less in an interval is what can be seen.
            CHECK((*report.rate().ci95)[1] - *report.rate().mean > 0.05);
        }
    }
    SECTION("pairs of equal ones count for less") {
        std::vector<std::uint64_t> pairs;
        for (int i = 0; i < 5; ++i)
            pairs.insert(pairs.end(), {90, 90, 110, 110});
        // Of the 19 products ten are +100 and nine -100, over 20 * 100; that r is too low by (1 +
        // 4r)/20, and half of its standard error stands for what is not known.
        const double r = (20.0 / 20 + 1) / 16;
        const double high = r + std::sqrt((1 - r * r) / 20) / 2;
        CHECK(rate_of(pairs).effective == Approx(20 * (1 - high) / (1 + high)));
    }
    SECTION("two levels say next to nothing of their mean") {
        const auto rate = rate_of({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
                                   90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90});
        CHECK(rate.effective == Approx(2.5));
        REQUIRE(rate.ci95.has_value());
        CHECK((*rate.ci95)[0] == 0);
        CHECK((*rate.ci95)[1] > 100);
    }
    SECTION("a slow fall is said") {
        std::vector<std::uint64_t> falling;
        for (std::uint64_t i = 0; i < 40; ++i)
            falling.push_back(1000 - 5 * i + (i * 7919) % 41);
        const auto rate = rate_of(falling);
        REQUIRE(rate.trend.has_value());
        CHECK(*rate.trend == Approx(-0.21).margin(0.02));
    }
    SECTION("no interval of confidence goes below nothing") {
        std::vector<std::uint64_t> bursts(20, 0);
        bursts[3] = 900;
        const auto rate = rate_of(bursts);
        REQUIRE(rate.ci95.has_value());
        CHECK((*rate.ci95)[0] == 0);
    }
}

TEST_CASE("rate: none below nothing is thought likely") {
    run_report report(test::description());
    for (int i = 0; i < 24; ++i)
        report.add_time_slice(test::counted(i, i + 1, i == 18 ? 50 : 0));
    report.finish({.duration_s = 24});
    const std::string summary = format_summary(report.record());
    INFO(summary);
    CHECK(summary.find("from 0 to 3,000; mean (0 to ") != std::string::npos);
    CHECK(confidence_text(202.9, 207.1) == "± 2.10");
}

TEST_CASE("rate: a trend is told by its ends, and none is below nothing") {
    CHECK(trend_text(206, 0.146, "/s") == "rose from 191/s to 221/s");
    CHECK(trend_text(1000, -2.7, "/min") == "fell from 2,350/min to 0/min");
    CHECK(trend_text(1000, -2, "") == "fell from 2,000 to 0");
}

TEST_CASE("rate: without a whole interval it is of the time measured") {
    run_report report(test::description());
    auto part = counted(0, 12, 100);
    part.partial = true;
    report.add_time_slice(part);
    const auto rate = report.rate();
    CHECK(rate.count == 0);
    CHECK(rate.mean == Approx(500));
    CHECK(rate.min == Approx(500));
    CHECK(rate.max == Approx(500));
    CHECK_FALSE(rate.stddev.has_value());
    CHECK_FALSE(rate.ci95.has_value());
}

TEST_CASE("rate: an interval of several time slices is as whole as its last one says") {
    run_report report(test::description());
    for (int second = 0; second < 12; ++second) {
        auto slice = counted(second, second + 1, 10);
        slice.closes_interval = second == 4 || second == 9 || second == 11;
        slice.partial = second % 5 != 4;
        report.add_time_slice(slice);
    }
    REQUIRE(report.intervals().size() == 3);
    CHECK_FALSE(report.intervals()[0].partial);
    CHECK_FALSE(report.intervals()[1].partial);
    CHECK(report.intervals()[2].partial);
    CHECK(report.rate().count == 2);
    CHECK(report.rate().mean == Approx(600));
}
