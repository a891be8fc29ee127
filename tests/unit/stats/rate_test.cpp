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
        const auto rate = rate_of({90, 110, 90, 110, 90, 110, 90, 110, 90, 110});
        CHECK(rate.effective == Approx(10));
        // t(0.975, 9) = 2.26216, stddev 10.5409
        REQUIRE(rate.ci95.has_value());
        CHECK((*rate.ci95)[1] - 100 == Approx(2.26216 * 10.5409 / std::sqrt(10)).epsilon(1e-4));
        CHECK_FALSE(rate.trend.has_value());
    }
    SECTION("equal ones are no less than so many, however their mean is rounded") {
        for (int n = 10; n < 30; ++n) {
            run_report report(test::description());
            for (int i = 0; i < n; ++i)
                report.add_time_slice(counted(i * 59.9, i * 59.9 + 59.9, 7));
            CHECK(report.rate().effective == Approx(n));
            CHECK(report.rate().ci95.has_value());
        }
    }
    SECTION("pairs of equal ones count for less") {
        const auto rate = rate_of({90, 90, 110, 110, 90, 90, 110, 110, 90, 90, 110, 110});
        // r = 1/12: of the 11 products six are +100 and five -100, over 12 * 100
        CHECK(rate.effective == Approx(12 * (11.0 / 12) / (13.0 / 12)));
    }
    SECTION("two levels say nothing of their mean, and are a trend") {
        const auto rate = rate_of({10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
                                   90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90, 90});
        CHECK(rate.effective < 2);
        CHECK_FALSE(rate.ci95.has_value());
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
        const auto rate = rate_of({0, 0, 0, 900, 0, 0, 0, 0, 0, 0});
        REQUIRE(rate.ci95.has_value());
        CHECK((*rate.ci95)[0] == 0);
    }
}

TEST_CASE("rate: none below nothing is thought likely") {
    run_report report(test::description());
    for (int i = 0; i < 19; ++i)
        report.add_time_slice(test::counted(i, i + 1, i == 18 ? 50 : 0));
    report.finish({.duration_s = 19});
    const std::string summary = format_summary(report);
    INFO(summary);
    CHECK(summary.find("from 0 to 3,000; mean (0 to 490) at 95 %") != std::string::npos);
    CHECK(confidence_text(202.9, 207.1) == "± 2.10");
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
