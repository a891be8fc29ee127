// SPDX-License-Identifier: GPL-3.0-or-later
// The log's columns, byte for byte, and its time.
#include "stats/interval_log.hpp"

#include "stats/live_line.hpp"
#include "stats/summary.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>

using namespace postal::stats;
using namespace std::chrono_literals;

namespace {

interval_row one_row(run_report& report, double end_s = 60) {
    auto part = test::counted(0, end_s, 14752);
    part.counts.bytes = 80491 * 1024 + 1023;
    part.counts.connections = 1473;
    part.counts.errors.add("connect", 0, "refused", "");
    part.counts.errors.add("rcpt", 550, "5.1.1", "");
    part.counts.rejected = 1;
    return report.add_time_slice(part)->row;
}

void set_zone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
}

}  // namespace

TEST_CASE("interval log: the original's columns") {
    set_zone("UTC");
    run_report report(test::description());
    const interval_log log(stdout, log_format::csv, report.description());
    CHECK(log.header() == "time,messages,data(K),errors,connections,SSL connections");
    CHECK(log.line(one_row(report)) == "00:01,14752,80491,2,1473,0");
}

TEST_CASE("interval log: the extended columns follow, as many in the header as in a line") {
    set_zone("UTC");
    run_report report(test::description());
    const interval_log log(stdout, log_format::extended, report.description());
    const std::string line = log.line(one_row(report));
    const std::string header = log.header();
    CHECK(header.starts_with("time,messages,data(K),errors,connections,SSL connections,p50_ms,"));
    CHECK(std::count(header.begin(), header.end(), ',') ==
          std::count(line.begin(), line.end(), ','));
    CHECK(line ==
          "00:01,14752,80491,2,1473,0,1.000,1.000,1.000,1.000,14752,14752,1,0,0,0,1,0,0,1,0,50.0,,,"
          "0.00,45.000");
    interval_row waited;
    waited.run_delay = 0.455;
    waited.machine_idle = 0.02;
    waited.end_s = 10;
    waited.open_connections = 12.5;
    waited.worker_cpu_s = 90.25;
    CHECK(log.line(waited).ends_with(",0.0,45.5,2.0,12.50,90.250"));
    CHECK(log.line(interval_row{}) == "00:00,0,0,0,0,0,,,,,0,0,0,0,0,0,0,0,0,0,0,0.0,,,,0.000");
}

TEST_CASE("interval log: JSON lines") {
    set_zone("CET-1");
    run_report report(test::description());
    const interval_log log(stdout, log_format::jsonl, report.description());
    CHECK(log.header().empty());
    const auto object = nlohmann::json::parse(log.line(one_row(report)));
    CHECK(object["time"] == "2026-01-01T00:01:00.000Z");
    CHECK(object["messages"] == 14752);
    CHECK(object["t_s"] == 60.0);
}

TEST_CASE("interval log: the time is local, and has seconds when intervals are not whole minutes") {
    struct row {
        const char* zone;
        std::chrono::nanoseconds interval;
        double end_s;
        std::string_view wanted;
        std::string_view reason;
    };
    const std::vector<row> table{
        {"UTC", 60s, 60, "00:01", "whole minutes"},
        {"UTC", 120s, 120, "00:02", "two minutes"},
        {"UTC", 1s, 3661, "01:01:01", "seconds"},
        {"UTC", 90s, 90, "00:01:30", "more than a minute, not whole"},
        {"UTC", 700ms, 0.7, "00:00:01", "to the nearest second"},
        {"UTC", 60s, 59.9999, "00:01", "a timer that was a moment early"},
        {"UTC", 60s, 60.0004, "00:01", "a timer that was a moment late"},
        {"CET-1", 60s, 60, "01:01", "another zone"},
    };
    for (const auto& [zone, interval, end_s, wanted, reason] : table) {
        INFO(reason);
        set_zone(zone);
        auto run = test::description();
        run.interval = interval;
        const interval_log log(stdout, log_format::csv, run);
        interval_row line;
        line.end_s = end_s;
        CHECK(log.line(line) == std::string(wanted) + ",0,0,0,0,0");
    }
}

TEST_CASE("interval log: a stream that cannot take it is a failure") {
    const auto close = [](std::FILE* file) { std::fclose(file); };
    const std::unique_ptr<std::FILE, decltype(close)> full(std::fopen("/dev/full", "w"), close);
    REQUIRE(full);
    interval_log log(full.get(), log_format::csv, test::description());
    const auto written = log.write_header();
    REQUIRE(written.has_error());
    CHECK(written.error().message == "cannot write the interval log: No space left on device");
}

TEST_CASE("summary: result first, a unit on every number, not too long") {
    auto run = test::description();
    run.warmup = 60s;
    run_report report(run);
    auto part = test::counted(60, 120, 1234);
    part.counts.started = 1244;
    part.counts.rejected = 10;
    for (int i = 0; i < 10; ++i)
        part.counts.errors.add("rcpt", 550, "5.1.1", "no such user");
    for (int code = 400; code < 450; ++code)
        part.counts.errors.add("mail", code, "", "later");
    report.add_time_slice(part);
    report.add_time_slice(test::counted(120, 180, 1000));
    report.finish({180, run_ending::complete, 12.34, 5.6, 47'000'000});
    report.thresholds = {{"p99(message)<1s", 1000.0, "us", true}, {"errors==0", 60.0, "", false}};
    const std::string text = format_summary(report.record());
    INFO(text);
    CHECK(text.starts_with("postal: 2,234 messages accepted in 2m (after 1m of warm-up)\n"));
    CHECK(text.find("1,120 messages/min (18.6 messages/s), 2 intervals from 1,000 to 1,230\n") !=
          std::string::npos);
    CHECK(text.find("10 rejected") != std::string::npos);
    CHECK(text.find("10 x rcpt 550 5.1.1: no such user") != std::string::npos);
    CHECK(text.find("not the limit: the busiest worker was 50 % busy") != std::string::npos);
    CHECK(text.find("NOT MET      errors==0: 60") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 25);
    CHECK(text.find("nan") == std::string::npos);
}

TEST_CASE("summary: the table of latencies has the columns that there is room for") {
    run_report report(test::description());
    report.add_time_slice(test::counted(0, 60, 1234));
    report.finish({60, run_ending::complete, 0, 0, 0});
    struct row {
        std::size_t width;
        std::string_view head;
    };
    const std::vector<row> table{
        {200, "latency           count     mean      p50      p90      p99    p99.9      max\n"},
        {79, "latency           count     mean      p50      p90      p99    p99.9      max\n"},
        {78, "latency           count     mean      p50      p90      p99      max\n"},
        {60, "latency           count      p50      p99      max\n"},
        {20, "latency           count      p99\n"}};
    for (const row& one : table) {
        const std::string text = format_summary(report.record(), one.width);
        INFO(text);
        CHECK(text.find("\n  " + std::string(one.head)) != std::string::npos);
    }
}

TEST_CASE("summary: a single kind of error is told once") {
    run_report report(test::description());
    auto part = test::counted(0, 60, 1);
    for (int i = 0; i < 22; ++i)
        part.counts.errors.add("connect", 0, "refused", "127.0.0.1:25");
    report.add_time_slice(part);
    const std::string text = format_summary(report.record());
    INFO(text);
    CHECK(text.find("\n  errors: 22 x connect refused: 127.0.0.1:25\n") != std::string::npos);
    CHECK(text.find("22 x") == text.rfind("22 x"));
}

TEST_CASE("summary: a run without anything") {
    run_report report(test::description());
    std::string text = format_summary(report.record());
    CHECK(text.starts_with("postal: 0 messages accepted in 0s\n"));
    CHECK(text.find("nan") == std::string::npos);
    auto part = test::counted(0, 5, 0);
    part.in_warmup = true;
    part.counts.errors.add("connect", 0, "refused", "127.0.0.1:25");
    part.counts.slip.record(50ms);
    report.add_time_slice(part);
    text = format_summary(report.record());
    CHECK(text.find(" (all in the warm-up)\n") != std::string::npos);
    CHECK(text.find("1 x connect refused: 127.0.0.1:25") != std::string::npos);
}

TEST_CASE("live line: one line within its width") {
    live_state state{42s, 12345.4, 500'000, 1, 12, std::nullopt};
    CHECK(format_live_line(state) == "0:42  500,000 messages  12,345/s  1 error  12 open");
    state.remaining = 558s;
    CHECK(format_live_line(state).ends_with("12 open  ETA 9:18"));
    CHECK(format_live_line(state, 10).size() == 10);
    state.p50 = 3200us;
    CHECK(format_live_line(state).find("12,345/s  p50 3.20 ms  1 error") != std::string::npos);
    state.p99 = 18200us;
    CHECK(format_live_line(state).find("12,345/s  p99 18.2 ms  1 error") != std::string::npos);
    state.trial = live_trial{7, 412.3, "412/s for 20 s"};
    CHECK(format_live_line(state).starts_with("0:42  trial 7: 412/s  12,345/s  p99 18.2 ms"));
    state.trial.reset();
    state.p50 = state.p99 = std::nullopt;
    state.appended = 1234;
    CHECK(format_live_line(state).find("12,345/s  1,234 appended  1 error  12 open") !=
          std::string::npos);
    state.messages_per_second = std::nan("");
    CHECK(format_live_line(state).find("  0/s") != std::string::npos);
}

TEST_CASE("live line: how long it will still take") {
    live_state state;
    state.elapsed = 10s;
    CHECK_FALSE(estimate_remaining(state, 0s, 0).has_value());
    CHECK(*estimate_remaining(state, 60s, 0) == 50s);
    CHECK(*estimate_remaining(state, 5s, 0) == 0s);
    CHECK_FALSE(estimate_remaining(state, 0s, 1000).has_value());
    state.messages = 100;
    CHECK(*estimate_remaining(state, 0s, 400) == 30s);
    CHECK(*estimate_remaining(state, 60s, 400) == 30s);
    CHECK(*estimate_remaining(state, 20s, 400) == 10s);
    CHECK(*estimate_remaining(state, 0s, 50) == 0s);
    CHECK(estimate_remaining(state, 0s, UINT64_MAX)->count() > 0);
}
