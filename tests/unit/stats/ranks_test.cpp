// SPDX-License-Identifier: GPL-3.0-or-later
// What is told of the ranks of a run: the record and back, the summary, the log, the verdict.
#include "stats/interval_log.hpp"
#include "stats/rank_summary.hpp"
#include "stats/record_reader.hpp"
#include "stats/record_writer.hpp"
#include "stats/summary.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::stats;
using Catch::Contains;

namespace {

rank_share share_of(unsigned rank, const std::string& host) {
    rank_share one;
    one.rank = rank;
    one.host = host;
    one.workers = 2;
    one.sessions = 50;
    one.processors = 2;
    one.machine_processors = 4;
    one.wall_offset_s = -0.001234567;
    one.clock_offset_s = 1000.000000001;
    one.clock_bound_s = 0.0001;
    one.clock_drift = -0.00002;
    one.clock_drift_limit = 0.001;
    one.start_late_s = 0.0001 * rank;
    one.totals.messages = one.totals_with_warmup.messages = 100 + rank;
    one.messages = {40, 60};
    one.p50_us = 1000;
    one.p99_us = 2500.5;
    one.ended = run_ending::duration;
    one.done_s = 60.2 - rank;
    one.verdict = generator_verdict::none;
    one.worker_busy = 0.5;
    return one;
}

std::vector<rank_share> four_ranks() {
    return {share_of(0, "a"), share_of(1, "a"), share_of(2, "b"), share_of(3, "b")};
}

run_report two_intervals(unsigned ranks) {
    run_description run = test::description();
    run.ranks = ranks;
    run_report report(std::move(run));
    for (const double end_s : {60.0, 120.0}) {
        time_slice slice = test::counted(end_s - 60, end_s, 100);
        slice.ranks = end_s > 60 ? ranks - 1 : ranks;
        report.add_time_slice(slice);
    }
    return report;
}

}  // namespace

TEST_CASE("ranks: an interval says how many had a part in it") {
    const run_record record = two_intervals(4).record();
    REQUIRE(record.intervals.size() == 2);
    CHECK(record.intervals[0].ranks == 4U);
    CHECK(record.intervals[1].ranks == 3U);
}

TEST_CASE("ranks: a run of one process says nothing of them") {
    run_report report = two_intervals(1);
    CHECK_THAT(record_text(report), !Contains("\"ranks\""));
    report.set_ranks({share_of(0, "a")});
    CHECK_THAT(record_text(report), !Contains("\"ranks\""));
    CHECK(rank_lines(report.ranks()).empty());
    CHECK(interval_log(stdout, log_format::extended, report.description()).header().find("ranks") ==
          std::string::npos);
}

TEST_CASE("ranks: what a record must not say of them") {
    const auto refusal = [](const std::string& members) {
        const auto read = parse_record(
            R"({"schema": "postal-record/1", "program": "postal", "totals": {}, )" + members + "}");
        return read ? "accepted" : read.error().message;
    };
    CHECK_THAT(refusal(R"("ranks": [{"rank": 1}])"),
               Contains("ranks[0].rank is not its place in the list"));
    CHECK_THAT(refusal(R"("ranks": [{"interval_messages": [1]}])"),
               Contains("ranks[0].interval_messages is not a list with at most one number"));
    CHECK(refusal(R"("intervals": [{"t_s": 1}], "ranks": [{"interval_messages": [1]}])") ==
          "accepted");
}

TEST_CASE("ranks: the summary says how they began and ended") {
    run_report report = two_intervals(4);
    std::vector<rank_share> ranks = four_ranks();
    report.set_ranks(ranks);
    const std::string well = format_summary(report.record());
    CHECK_THAT(well, Contains("4 ranks on 2 hosts, started within 300 µs of each other"));
    CHECK_THAT(well, Contains("first done rank 3 after 57.2 s, last rank 0 after 60.2 s"));
    CHECK_THAT(well, !Contains("LOST") && !Contains("LATE") && !Contains("CLOCK"));
    ranks[3].lost_s = 12.3;
    ranks[3].done_s = std::nullopt;
    ranks[3].unaccounted = 1234;
    ranks[1].missed_start = true;
    ranks[1].start_late_s = 3.2;
    ranks[1].clock_drift_limit = 0.0843;
    ranks[2].wall_steps = 1;
    ranks[2].clock_step_s = 61;
    ranks[3].clock_steps = 2;
    ranks[3].clock_step_s = -0.02;
    report.set_ranks(ranks);
    const std::string badly = format_summary(report.record());
    CHECK_THAT(badly, Contains("rank 3 on b was lost: last heard of after 12.3 s, at least 1,234 "
                               "messages unaccounted for"));
    CHECK_THAT(badly, Contains("rank 1 on a missed the start by 3.20 s"));
    CHECK_THAT(badly, Contains("last rank 0 after 60.2 s"));
    CHECK_THAT(badly, Contains("rank 2 on b had its wall clock set ahead by 61.0 s"));
    CHECK_THAT(badly, Contains("rank 3 on b had its steady clock set back by 20.0 ms against "
                               "rank 0's, and at other times"));
    CHECK_THAT(badly, Contains("rank 1 on a or rank 0 had a clock that was being slewed: the two "
                               "may drift by 84300 ppm"));
}

TEST_CASE("ranks: of many that are lost some are named") {
    std::vector<rank_share> ranks;
    for (unsigned rank = 0; rank < 96; ++rank) {
        ranks.push_back(share_of(rank, "h" + std::to_string(rank)));
        ranks.back().lost_s = 1;
    }
    const auto lines = rank_lines(ranks);
    CHECK(lines.size() <= 8);
    CHECK(lines.back().text == "and 92 ranks more");
}

TEST_CASE("ranks: one that was the limit is the whole run's reason") {
    run_report report = two_intervals(4);
    std::vector<rank_share> ranks = four_ranks();
    report.set_ranks(ranks);
    CHECK(report.generator().verdict == generator_verdict::none);
    ranks[1].verdict = generator_verdict::machine_full;
    ranks[1].reason = "it waited";
    ranks[1].worker_busy = 0.99;
    ranks[2].verdict = generator_verdict::limit;
    ranks[2].reason = "a worker was 95 % busy";
    ranks[2].worker_busy = 0.95;
    report.set_ranks(ranks);
    const generator_summary found = report.generator();
    CHECK(found.verdict == generator_verdict::limit);
    CHECK(found.limited);
    CHECK(found.worker_busy == 0.99);
    CHECK(found.reason == "rank 2 on b: a worker was 95 % busy");
}

TEST_CASE("ranks: the extended log and JSON lines say how many had a part") {
    run_report report = two_intervals(4);
    const interval_log extended(stdout, log_format::extended, report.description());
    CHECK_THAT(extended.header(), Catch::EndsWith(",ranks"));
    CHECK_THAT(extended.line(report.intervals()[1]), Catch::EndsWith(",3"));
    const interval_log plain(stdout, log_format::csv, report.description());
    CHECK_THAT(plain.header(), !Contains("ranks"));
    const interval_log lines(stdout, log_format::jsonl, report.description());
    CHECK_THAT(lines.line(report.intervals()[0]), Contains("\"ranks\":4"));
}
