// SPDX-License-Identifier: GPL-3.0-or-later
// Agents counted, merged, and shown: in the interval log, the record and the summary.
#include "stats/agent_counts.hpp"

#include "stats/interval_log.hpp"
#include "stats/record_writer.hpp"
#include "stats/summary.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>

using namespace postal::stats;
using namespace std::chrono_literals;

namespace {

run_description server() {
    auto run = test::description();
    run.program = "lmtp-deliver";
    run.phases = {"agent", "message"};
    run.runs_agents = true;
    run.agent_phase = 0;
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    return run;
}

// A minute in which `started` agents began and `ended` ended with 0 after 1 ms of CPU each.
time_slice minute(double start_s, int started, int ended) {
    auto part = test::counted(start_s, start_s + 60, 0);
    part.counts.latency[0].clear();
    for (int i = 0; i < started; ++i)
        part.counts.agents.add_start();
    for (int i = 0; i < ended; ++i) {
        part.counts.agents.add_end_with_status(0, {750us, 250us, 1U << 20U});
        part.counts.latency[0].record(2ms);
    }
    return part;
}

std::string shown(const agent_counts& counts) {
    std::string text;
    for (const auto& one : counts.exits().sorted())
        text += one.name + "*" + std::to_string(one.count) + " ";
    return text;
}

}  // namespace

TEST_CASE("agent counts: ends by kind, the most frequent first") {
    agent_counts counts;
    CHECK(counts.empty());
    CHECK(counts.exits().empty());
    for (int i = 0; i < 3; ++i)
        counts.add_start();
    counts.add_end_by_signal(9, {1ms, 2ms, 500});
    counts.add_end_with_status(75, {10ms, 20ms, 700});
    counts.add_end_with_status(75, {100ms, 200ms, 600});
    counts.add_end(timeout_end, {});
    counts.add_not_started();
    counts.add_end_with_status(0, {});
    CHECK(shown(counts) == "75*2 0*1 not started*1 signal 9*1 timeout*1 ");
    CHECK(counts.started() == 3);
    CHECK(counts.ended() == 5);
    CHECK(counts.running() == 0);
    CHECK(counts.user() == 111ms);
    CHECK(counts.system() == 222ms);
    CHECK(counts.max_rss_bytes() == 700);
    CHECK_FALSE(counts.empty());
}

TEST_CASE("agent counts: merging adds, the largest memory stays, clearing takes away") {
    agent_counts a;
    agent_counts b;
    a.add_start();
    a.add_end_with_status(0, {1ms, 1ms, 900});
    b.add_start();
    b.add_start();
    b.add_end_with_status(75, {2ms, 3ms, 100});
    a.merge(b);
    a.merge(b);
    CHECK(a.started() == 5);
    CHECK(a.ended() == 3);
    CHECK(a.running() == 2);
    CHECK(a.user() == 5ms);
    CHECK(a.system() == 7ms);
    CHECK(a.max_rss_bytes() == 900);
    CHECK(shown(a) == "75*2 0*1 ");
    a.clear();
    CHECK(a.empty());
    CHECK(a.exits().empty());
    CHECK(a.max_rss_bytes() == 0);
    a.merge(b);
    CHECK(shown(a) == "75*1 ");
    agent_counts only_refused;
    only_refused.add_not_started();
    CHECK_FALSE(only_refused.empty());
}

TEST_CASE("agent counts: a tally merges and clears them with the rest") {
    tally a(1);
    tally b(1);
    b.agents.add_start();
    a.merge(b);
    a.merge(b);
    CHECK(a.agents.started() == 2);
    a.clear();
    CHECK(a.agents.empty());
}

TEST_CASE("agents: those that run at an interval's end, since the run began") {
    run_report report(server());
    CHECK(report.add_time_slice(minute(0, 10, 4))->row.agents_running == 6U);
    CHECK(report.add_time_slice(minute(60, 0, 5))->row.agents_running == 1U);
    const auto last = report.add_time_slice(minute(120, 0, 1));
    REQUIRE(last.has_value());
    CHECK(last->row.agents_running == 0U);
    CHECK_FALSE(last->row.agent_p50.has_value());  // of one value there is no median
    CHECK_FALSE(report.add_time_slice(minute(180, 0, 0))->row.agent_p50.has_value());
}

TEST_CASE("agents: those that the warm-up left running are started in the totals") {
    auto run = server();
    run.warmup = 60s;
    run_report report(run);
    auto warm = minute(0, 10, 7);
    warm.in_warmup = true;
    report.add_time_slice(warm);
    report.add_time_slice(minute(60, 5, 8));
    CHECK(report.intervals()[0].agents_running == 3U);
    CHECK(report.intervals()[1].agents_running == 0U);
    CHECK(report.totals().agents.started() == 8);
    CHECK(report.totals().agents.ended() == 8);
    CHECK(report.totals_with_warmup().agents.started() == 15);
}

TEST_CASE("agents: the log's columns") {
    run_report report(server());
    auto part = minute(0, 10, 4);
    part.counts.messages = 4;
    part.counts.deferred = 2;
    part.counts.rejected = 1;
    const auto row = report.add_time_slice(part)->row;
    const interval_log csv(stdout, log_format::csv, report.description());
    CHECK(csv.header() ==
          "time,messages,data(K),errors,connections,SSL connections,deferred,rejected,"
          "agents_running,agent_p50_ms,agent_p99_ms");
    CHECK(csv.line(row) == "00:01,4,0,0,2,0,2,1,6,2.000,");
    CHECK(csv.line(interval_row{}) == "00:00,0,0,0,0,0,0,0,0,,");

    const interval_log extended(stdout, log_format::extended, report.description());
    CHECK(extended.header() ==
          csv.header() +
              ",p50_ms,p90_ms,p99_ms,max_ms,started,recipients,failed,in_doubt,connect_errors,"
              "timeouts,errors_4xx,errors_5xx,other_errors,busy_percent,wait_percent,idle_percent,"
              "open_connections,worker_cpu_s");
    CHECK(extended.line(row) == csv.line(row) + ",,,,,0,0,0,0,0,0,0,0,0,50.0,,,0.00,45.000");

    const interval_log lines(stdout, log_format::jsonl, report.description());
    const auto object = nlohmann::json::parse(lines.line(row));
    CHECK(object["agents_running"] == 6);
    CHECK(object["agent_p50_us"] == 2000);
    CHECK(object["agent_p99_us"].is_null());  // of four
    const auto idle = report.add_time_slice(minute(60, 0, 0))->row;
    CHECK(nlohmann::json::parse(lines.line(idle))["agent_p50_us"].is_null());
}

TEST_CASE("agents: the record") {
    run_report report(server());
    auto part = minute(0, 10, 4);
    part.counts.agents.add_end_by_signal(9, {});
    part.counts.agents.add_not_started();
    report.add_time_slice(part);
    const auto record = nlohmann::json::parse(record_text(report));
    CHECK(record["agents"] ==
          nlohmann::json{{"started", 10},
                         {"cpu_user_s", 0.003},
                         {"cpu_system_s", 0.001},
                         {"max_rss_bytes", 1U << 20U},
                         {"exits", {{"0", 4}, {"not started", 1}, {"signal 9", 1}}}});
    CHECK(record["intervals"][0]["agents_running"] == 5);
    CHECK(record["latency_us"]["agent"]["count"] == 4);
    const auto nothing = nlohmann::json::parse(record_text(run_report(server())));
    CHECK(nothing["agents"]["exits"] == nlohmann::json::object());
}

TEST_CASE("agents: the summary's line") {
    run_report none(server());
    CHECK(format_summary(none.record()).find("  agents       0 started, 0.00 s CPU\n") !=
          std::string::npos);
    run_report good(server());
    good.add_time_slice(minute(0, 2000, 2000));
    CHECK(format_summary(good.record())
              .find("  agents       2,000 started, 2.00 s CPU (1.00 ms a delivery)\n") !=
          std::string::npos);
    run_report mixed(server());
    auto part = minute(0, 10, 4);
    part.counts.agents.add_end_with_status(75, {});
    part.counts.agents.add_end_with_status(75, {});
    part.counts.agents.add_end_by_signal(9, {});
    mixed.add_time_slice(part);
    CHECK(format_summary(mixed.record()).find(", 3 did not end with 0: 2 x 75, 1 x signal 9\n") !=
          std::string::npos);
    run_report many(server());
    auto odd = minute(0, 0, 0);
    for (int status = 1; status <= 8; ++status)
        odd.counts.agents.add_end_with_status(status, {});
    many.add_time_slice(odd);
    CHECK(format_summary(many.record()).find("1 x 5, 3 other kinds\n") != std::string::npos);
}

TEST_CASE("agents: a program that runs none says nothing of them") {
    run_report report(test::description());
    const auto row = report.add_time_slice(test::counted(0, 60, 10))->row;
    CHECK_FALSE(row.agents_running.has_value());
    CHECK(record_text(report).find("agent") == std::string::npos);
    CHECK(format_summary(report.record()).find("agent") == std::string::npos);
    for (const auto format : {log_format::csv, log_format::extended, log_format::jsonl}) {
        const interval_log log(stdout, format, report.description());
        CHECK((log.header() + log.line(row)).find("agent") == std::string::npos);
    }
}
