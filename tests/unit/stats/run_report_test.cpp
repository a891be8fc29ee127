// SPDX-License-Identifier: GPL-3.0-or-later
// Pieces become intervals, totals and rates; runs that are nearly nothing stay sane.
#include "stats/run_report.hpp"
#include "stats/interval_log.hpp"
#include "stats/summary.hpp"
#include "stats/threshold.hpp"

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
    CHECK(rate.count == 3);
    CHECK(rate.mean == Approx(110));
    CHECK(rate.min == Approx(100));
    CHECK(rate.max == Approx(120));
    REQUIRE(rate.stddev.has_value());
    CHECK(*rate.stddev == Approx(10));
    CHECK_FALSE(rate.ci95.has_value());  // how alike neighbours are is not known from three
    CHECK_FALSE(rate.trend.has_value());
    CHECK(report.measured_s() == Approx(180));
}

TEST_CASE("run report: an interval has the time of its workers, and of connections, together") {
    run_report report(test::description());
    auto first = counted(0, 30, 100);
    first.closes_interval = false;
    first.workers[0].connected_s = 120;
    first.workers[1].connected_s = 180;
    report.add_time_slice(first);
    auto second = counted(30, 60, 100);
    second.workers[0].connected_s = 30;
    const interval_row row = report.add_time_slice(second)->row;
    CHECK(row.worker_cpu_s == Approx(45));
    CHECK(row.open_connections == Approx(5.5));
    // Nothing is carried over.
    const interval_row next = report.add_time_slice(counted(60, 120, 100))->row;
    CHECK(next.worker_cpu_s == Approx(45));
    CHECK(next.open_connections == 0.0);
}

TEST_CASE(
    "run report: what a rate asks for is in intervals of an open loop, which it does not cap") {
    auto run = test::description();
    run.asked = [](double until_s) { return until_s * 2; };
    run_report capped(run);
    CHECK(capped.add_time_slice(counted(0, 60, 100))->row.asked == 120.0);
    CHECK(capped.cap().has_value());
    run.due_phase = run.message_phase;
    run_report open(run);
    CHECK(open.add_time_slice(counted(0, 60, 100))->row.asked == 120.0);
    CHECK_FALSE(open.cap().has_value());
    CHECK(interval_log(stdout, log_format::extended, open.description()).header().find("asked") ==
          std::string::npos);
}

TEST_CASE("run report: who waits for the last of those that begin together is not behind") {
    struct rule {
        unsigned together;
        unsigned ranks;
        std::uint64_t behind;
        const char* reason;
    };
    for (const rule& each :
         {rule{1, 1, 20, "each begins alone"}, rule{20, 1, 20, "one would be whole"},
          rule{21, 1, 0, "the last may not be due"}, rule{11, 2, 0, "nor in either rank"}}) {
        INFO(each.reason);
        auto run = test::description();
        run.asked = [](double until_s) { return until_s * 2; };
        run.together = each.together;
        run.ranks = each.ranks;
        run_report report(run);
        auto part = counted(0, 60, 100);
        part.counts.due = 100;
        report.add_time_slice(part);
        REQUIRE(report.cap().has_value());
        CHECK(report.cap()->behind == each.behind);
    }
}

TEST_CASE("run report: an open loop ranks all that was due") {
    auto run = test::description();
    run.due_phase = run.message_phase;
    run_report report(run);
    auto part = counted(0, 60, 300);
    part.counts.due = 501;
    part.counts.not_started = 200;
    part.counts.started = 301;
    part.counts.failed = 1;
    part.counts.unserved.record(1s);  // the one that failed
    for (int i = 0; i < 200; ++i)
        part.counts.unserved.record(i * 20ms);
    report.add_time_slice(part);
    const ranking message = report.latency(1);
    CHECK(message.count() == 501);
    CHECK_FALSE(message.whole());
    CHECK(message.quantile(0.5).reached);
    CHECK(message.quantile(0.5).value == 1ms);
    CHECK(message.quantile(300.0 / 501).reached);
    CHECK_FALSE(message.quantile(0.6).reached);
    const auto p99 = message.quantile(0.99);
    CHECK_FALSE(p99.reached);
    CHECK(p99.value > 3800ms);
    CHECK(p99.value < 4s);
    CHECK(message.quantile(1).value == 3980ms);
    CHECK(report.latency(0).whole());
    CHECK(report.latency(0).count() == report.totals().latency[0].count());

    // Above every bound, whatever had been waited for.
    for (const std::string_view text : {"p99(message)<1h", "mean(message)<1h", "max(message)<1h"}) {
        const auto result = threshold::parse(text, run.phases)->evaluate(report);
        CHECK_FALSE(result.passed);
        CHECK_FALSE(result.reached);
    }
    CHECK(threshold::parse("p50(message)<2ms", run.phases)->evaluate(report).passed);
    CHECK(threshold::parse("due==501", run.phases)->evaluate(report).passed);
    const std::string text = format_summary(report.record());
    INFO(text);
    CHECK(text.find("messages     501 due, 200 never begun, 1 begun and not accepted\n") !=
          std::string::npos);
    CHECK(text.find("  message             501") != std::string::npos);
    CHECK(text.find("    accepted          300") != std::string::npos);
    CHECK(text.find("≥3.9") != std::string::npos);
}

TEST_CASE("ranking: how many values a percentile needs") {
    CHECK(support_of(0.99, 99) == support::none);
    CHECK(support_of(0.99, 100) == support::few);
    CHECK(support_of(0.99, 999) == support::few);
    CHECK(support_of(0.99, 1000) == support::enough);
    CHECK(support_of(0.999, 10'000) == support::enough);
    CHECK(support_of(0.5, 1) == support::none);
    CHECK(support_of(1, 1) == support::enough);
    CHECK(support_of(1, 0) == support::none);
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
    CHECK(report.rate().count == 1);
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

TEST_CASE("run report: recipients that wait from the warm-up count as deferred in the totals") {
    auto run = test::description();
    run.warmup = 60s;
    run_report report(run);
    auto first = counted(0, 60, 10);
    first.in_warmup = true;
    first.counts.deferred_recipients = 6;
    first.counts.taken_after_retry = 1;
    first.counts.still_deferred = 2;
    first.counts.not_retried = 3;
    report.add_time_slice(first);
    auto second = counted(60, 120, 20);
    second.counts.taken_after_retry = 4;
    second.counts.still_deferred -= 1;  // one of 2 is left
    second.counts.not_retried -= 3;
    report.add_time_slice(second);
    const tally& totals = report.totals();
    CHECK(totals.deferred_recipients == 5);
    CHECK(totals.taken_after_retry == 4);
    CHECK(totals.still_deferred == 1);
    CHECK(totals.not_retried == 0);
    CHECK(report.totals_with_warmup().deferred_recipients == 6);
    CHECK(report.totals_with_warmup().taken_after_retry == 5);
    CHECK(report.totals_with_warmup().still_deferred == 1);
}

TEST_CASE("run report: how connections were used, the warm-up's too") {
    auto run = test::description();
    run.serves = true;
    run.warmup = 60s;
    run_report report(run);
    CHECK_FALSE(report.connections().messages.has_value());
    CHECK_THAT(format_summary(report.record()), Catch::Contains("connections  none"));
    auto first = counted(0, 60, 10);
    first.in_warmup = true;
    first.counts.connections = 4;
    first.counts.tls_connections = 1;
    first.counts.transactions = 8;
    first.counts.pipelined = 2;
    report.add_time_slice(first);
    auto second = counted(60, 120, 20);
    second.counts.connections = 0;
    second.counts.transactions = 2;
    report.add_time_slice(second);
    run_end end;
    end.most_connections = 3;
    report.finish(end);
    const connection_summary use = report.connections();
    CHECK(use.messages.value_or(0) == Approx(7.5));
    CHECK(use.recipients.value_or(0) == Approx(3));
    CHECK(use.tls.value_or(0) == Approx(0.25));
    CHECK(use.pipelined.value_or(0) == Approx(0.2));
    CHECK(use.most_open == 3);
    CHECK_THAT(
        format_summary(report.record()),
        Catch::Contains("7.50 messages a connection, 3.00 recipients a transaction, 25 % with "
                        "TLS, at most 3 open at once; 20 % of the transactions pipelined"));
}

TEST_CASE("run report: what is finished after the stop counts, and not for the rate") {
    run_report report(test::description());
    report.add_time_slice(counted(0, 60, 100));
    report.add_time_slice(counted(60, 120, 120));
    auto rest = counted(120, 185, 7);  // a whole interval long
    rest.draining = rest.partial = true;
    report.add_time_slice(rest);
    CHECK(report.totals().messages == 227);
    CHECK(report.measured().messages == 220);
    CHECK(report.measured_s() == Approx(120));
    CHECK(report.rate().count == 2);
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
    CHECK(report.rate().count == 0);

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
              "a worker was 98 % busy from 0 s to 120 s: postal itself was the limit");
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
        for (int i = 0; i < 980; ++i)
            part.counts.slip.record(50us);
        for (int i = 0; i < 20; ++i)
            part.counts.slip.record(20ms);
        report.add_time_slice(part);
        CHECK(report.generator().limited);
        CHECK(report.generator().reason.find("20.0 ms late") != std::string::npos);
        CHECK(report.intervals()[0].slip_p99.has_value());
    }
}

TEST_CASE("run report: the first message that was accepted, of all workers, the warm-up's too") {
    using clock = std::chrono::steady_clock;
    run_report report(test::description());
    CHECK_FALSE(report.record().first_accepted_s.has_value());
    time_slice part = test::counted(0, 60, 5);
    part.in_warmup = true;
    tally late(2);
    tally early(2);
    tally never(2);
    late.accepted(2, clock::time_point(3s));
    late.accepted(1, clock::time_point(1s));  // told later
    early.accepted(0, clock::time_point(1s));
    early.accepted(1, clock::time_point(2s));
    CHECK(late.messages == 3);
    for (const tally& one : {never, late, early, never})
        part.counts.merge(one);
    report.add_time_slice(part);
    CHECK(report.record().first_accepted_s == 2);
    report.add_time_slice(test::counted(60, 120, 5));
    CHECK(report.record().first_accepted_s == 2);
    late.clear();
    CHECK_FALSE(late.first_accepted.has_value());
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
