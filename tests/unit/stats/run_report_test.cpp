// Pieces become intervals, totals and rates; runs that are nearly nothing stay sane.
#include "stats/run_report.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::stats;
using namespace std::chrono_literals;
using test::counted;

TEST_CASE("run report: whole intervals give the rate") {
    run_report report(test::description());
    report.add_time_slice(counted(0, 60, 100));
    report.add_time_slice(counted(60, 120, 110));
    const auto closed = report.add_time_slice(counted(120, 180, 120));
    REQUIRE(closed.has_value());
    CHECK(closed->row.messages == 120);
    CHECK(closed->counts.connections == 2);
    const auto rate = report.rate();
    CHECK(rate.intervals == 3);
    CHECK(rate.mean == Approx(110));
    CHECK(rate.min == Approx(100));
    CHECK(rate.max == Approx(120));
    REQUIRE(rate.stddev.has_value());
    CHECK(*rate.stddev == Approx(10));
    // t(0.975, 2) = 4.30265, so 110 +- 4.30265 * 10 / sqrt(3)
    REQUIRE(rate.ci95.has_value());
    CHECK((*rate.ci95)[0] == Approx(110 - 24.8414).epsilon(1e-4));
    CHECK((*rate.ci95)[1] == Approx(110 + 24.8414).epsilon(1e-4));
    CHECK(report.measured_s() == Approx(180));
}

TEST_CASE("run report: the warm-up is in the intervals and not in the totals or the rate") {
    auto run = test::description();
    run.warmup = 90s;
    run_report report(run);
    auto first = counted(0, 60, 10);
    first.in_warmup = true;
    report.add_time_slice(first);
    auto second = counted(60, 90, 20);
    second.in_warmup = true;
    second.closes_interval = false;
    CHECK_FALSE(report.add_time_slice(second).has_value());
    const auto closed = report.add_time_slice(counted(90, 120, 40));
    REQUIRE(closed.has_value());
    CHECK(closed->row.start_s == 60);
    CHECK(closed->row.messages == 60);
    CHECK(closed->row.warmup);
    report.add_time_slice(counted(120, 180, 100));
    CHECK(report.totals().messages == 140);
    CHECK(report.totals_with_warmup().messages == 170);
    CHECK(report.intervals().size() == 3);
    CHECK(report.rate().intervals == 1);
    CHECK(report.rate().mean == Approx(100));
    CHECK_FALSE(report.rate().stddev.has_value());
    CHECK(report.measured_s() == Approx(90));
}

TEST_CASE("run report: what the warm-up left in flight counts as started in the totals") {
    auto run = test::description();
    run.warmup = 60s;
    run_report report(run);
    auto first = counted(0, 60, 10);
    first.in_warmup = true;
    first.counts.started += 3;
    report.add_time_slice(first);
    auto second = counted(60, 120, 20);
    second.counts.messages += 2;
    second.counts.in_doubt += 1;
    report.add_time_slice(second);
    const tally& totals = report.totals();
    CHECK(totals.started == totals.messages + totals.in_doubt);
    CHECK(totals.started == 23);
    CHECK(report.totals_with_warmup().started == 33);
}

TEST_CASE("run report: without a whole interval the rate is of the time measured") {
    run_report report(test::description());
    auto part = counted(0, 12, 100);
    part.partial = true;
    report.add_time_slice(part);
    const auto rate = report.rate();
    CHECK(rate.intervals == 0);
    CHECK(rate.mean == Approx(500));
    CHECK(rate.min == Approx(500));
    CHECK(rate.max == Approx(500));
    CHECK_FALSE(rate.stddev.has_value());
    CHECK_FALSE(rate.ci95.has_value());
}

TEST_CASE("run report: what is finished after the stop counts, and not for the rate") {
    run_report report(test::description());
    report.add_time_slice(counted(0, 60, 100));
    report.add_time_slice(counted(60, 120, 120));
    auto rest = counted(120, 185, 7);  // a whole interval long
    rest.draining = rest.partial = true;
    report.add_time_slice(rest);
    CHECK(report.totals().messages == 227);
    CHECK(report.measured_s() == Approx(120));
    CHECK(report.rate().intervals == 2);
    CHECK(report.rate().mean == Approx(110));
    CHECK(report.intervals()[2].partial);

    run_report brief(test::description());
    auto part = counted(0, 12, 100);
    part.partial = true;
    brief.add_time_slice(part);
    rest.start_s = 12;
    rest.end_s = 14;
    brief.add_time_slice(rest);
    CHECK(brief.rate().mean == Approx(500));  // 100 in 12 s
}

TEST_CASE("run report: nothing at all divides by nothing") {
    run_report report(test::description());
    CHECK(report.rate().mean == 0);
    CHECK_FALSE(report.generator().limited);
    auto empty = time_slice(2);
    empty.closes_interval = true;
    CHECK_FALSE(report.add_time_slice(empty).has_value());
    CHECK(report.intervals().empty());
    CHECK(report.rate().mean == 0);
    CHECK(report.rate().intervals == 0);

    auto instant = counted(0, 0, 5);
    REQUIRE(report.add_time_slice(instant).has_value());
    CHECK(report.rate().mean == 0);
    CHECK(report.intervals()[0].worker_busy == 0);
    CHECK(report.totals().messages == 5);
}

TEST_CASE("run report: the busiest worker or a late schedule limits the generator") {
    SECTION("neither") {
        run_report report(test::description());
        report.add_time_slice(counted(0, 60, 10));
        CHECK_FALSE(report.generator().limited);
        CHECK(report.generator().worker_busy == Approx(0.5));
        CHECK(report.generator().reason.empty());
        CHECK_FALSE(report.generator().slip_p99.has_value());
    }
    SECTION("a single busy worker of two, over the whole run") {
        run_report report(test::description());
        for (int i = 0; i < 2; ++i) {
            auto part = counted(i * 60, i * 60 + 60, 10);
            part.workers[1].busy = 59s;
            report.add_time_slice(part);
        }
        CHECK(report.generator().limited);
        CHECK(report.generator().worker_busy == Approx(59.0 / 60));
        CHECK(report.generator().reason ==
              "a worker was 98 % busy: postal itself may have been the limit");
        CHECK(report.intervals()[0].worker_busy == Approx(59.0 / 60));
    }
    SECTION("busy in the warm-up only") {
        run_report report(test::description());
        auto part = counted(0, 60, 10);
        part.in_warmup = true;
        part.workers[0].busy = 60s;
        report.add_time_slice(part);
        report.add_time_slice(counted(60, 120, 10));
        CHECK_FALSE(report.generator().limited);
    }
    SECTION("a late schedule") {
        run_report report(test::description());
        auto part = counted(0, 60, 10);
        for (int i = 0; i < 98; ++i)
            part.counts.slip.record(50us);
        for (int i = 0; i < 2; ++i)
            part.counts.slip.record(20ms);
        report.add_time_slice(part);
        CHECK(report.generator().limited);
        CHECK(report.generator().reason.find("20.0 ms late") != std::string::npos);
        CHECK(report.intervals()[0].slip_p99.has_value());
    }
}

TEST_CASE("tally: merging adds everything and clearing takes it away") {
    tally a(1), b(1);
    a.started = 1;
    b.started = 2;
    b.duplicate = 3;
    b.busy = 5s;
    b.wall = 6s;
    b.latency[0].record(1ms);
    b.slip.record(1ms);
    b.errors.add("mail", 451, "", "later");
    a.merge(b);
    a.merge(b);
    CHECK(a.started == 5);
    CHECK(a.duplicate == 6);
    CHECK(a.busy == 10s);
    CHECK(a.wall == 12s);
    CHECK(a.latency[0].count() == 2);
    CHECK(a.slip.count() == 2);
    CHECK(a.errors.total() == 2);
    a.clear();
    CHECK(a.started == 0);
    CHECK(a.duplicate == 0);
    CHECK(a.wall == 0s);
    CHECK(a.latency[0].empty());
    CHECK(a.errors.empty());
}
