// SPDX-License-Identifier: GPL-3.0-or-later
// Seconds of a run, whatever its intervals are.
#include "stats/second_counts.hpp"
#include "stats/record_reader.hpp"
#include "stats/record_writer.hpp"
#include "stats/summary.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace postal::stats;

namespace {

time_slice slice(double start_s, double end_s, std::uint64_t messages) {
    time_slice made(2);
    made.start_s = start_s;
    made.end_s = end_s;
    made.counts.started = made.counts.messages = messages;
    return made;
}

// A run of 20 s within its first interval of a minute: 100 and 110 messages in turn, after two
// seconds of warm-up.
run_report short_run() {
    run_report report(test::description());
    for (int second = 0; second < 22; ++second) {
        time_slice one = slice(second, second + 1, second % 2 == 0 ? 100 : 110);
        one.in_warmup = second < 2;
        one.closes_interval = one.partial = second == 21;
        report.add_time_slice(one);
    }
    report.finish({.duration_s = 22});
    return report;
}

}  // namespace

TEST_CASE("seconds: a run within one interval has a spread") {
    const run_report report = short_run();
    CHECK(report.rate().count == 0);
    const rate_summary rate = report.seconds().rate();
    CHECK(rate.count == 20);
    CHECK(rate.mean == Approx(105));
    CHECK(rate.min == Approx(100));
    CHECK(rate.max == Approx(110));
    // t(0.975, 19) = 2.09302, stddev 5.12989
    REQUIRE(rate.ci95.has_value());
    CHECK((*rate.ci95)[1] - 105 == Approx(2.09302 * 5.12989 / std::sqrt(20)).epsilon(1e-4));
    const std::string summary = format_summary(report.record());
    INFO(summary);
    CHECK(summary.find("20 seconds from 100/s to 110/s; mean 105") != std::string::npos);
}

TEST_CASE("seconds: intervals that are as many say as much") {
    run_report report(test::description());
    for (int i = 0; i < 10; ++i)
        report.add_time_slice(test::counted(i, i + 1, 100));
    report.finish({.duration_s = 10});
    CHECK(format_summary(report.record()).find("by second") == std::string::npos);
}

TEST_CASE("seconds: a record has a list of each of their figures") {
    const run_record record = short_run().record();
    const second_columns& seconds = record.seconds;
    REQUIRE(seconds.t_s.size() == 22);
    CHECK(seconds.warmup == 2);
    CHECK(seconds.t_s[3] == Approx(4));
    CHECK(seconds.messages[3] == 110);
    CHECK_FALSE(seconds.asked.has_value());
    CHECK(seconds.width_s == 1);
    CHECK(record.rate_by_second.count == 20);
}

TEST_CASE("seconds: pieces of one are put together, and the warm-up ends one") {
    second_counts seconds;
    seconds.add(slice(0, 0.4, 4), 0);
    seconds.add(slice(0.4, 0.8, 4), 0);
    seconds.add(slice(0.8, 1.2, 4), 0);
    time_slice warming = slice(1.2, 1.5, 1);
    warming.in_warmup = true;
    seconds.add(warming, 0);
    seconds.add(slice(1.5, 2.5, 7), 0);
    seconds.add(slice(2.5, 3, 3), 0);
    time_slice drained = slice(3, 4, 50);
    drained.draining = true;
    seconds.add(drained, 0);
    REQUIRE(seconds.all().size() == 4);
    CHECK(seconds.all()[0].messages == 12);
    CHECK(seconds.all()[0].end_s == Approx(1.2));
    CHECK(seconds.all()[3].end_s == Approx(3));
    const rate_summary rate = seconds.rate();
    CHECK(rate.count == 2);
    CHECK(rate.min == Approx(7));
    CHECK(rate.max == Approx(10));
}

TEST_CASE("seconds: a server's rate under load leaves out when it waited") {
    struct row {
        const char* why;
        std::vector<std::uint64_t> messages;
        double per_second;  // 0: none
    };
    const row all[] = {
        {"idle before and after", {0, 0, 40, 100, 110, 90, 7, 0, 0, 0}, 100},
        {"a pause within the load is a part of it", {50, 100, 0, 80, 50}, 60},
        {"no second between the first and the last", {0, 40, 60, 0}, 0},
        {"none at all", {0, 0, 0}, 0},
        {"one", {5}, 0},
        {"from its start to its end", {9, 10, 10, 10, 9}, 10},
    };
    for (const row& one : all) {
        INFO(one.why);
        run_description serving = test::description();
        serving.serves = true;
        run_report report(serving);
        for (std::size_t i = 0; i < one.messages.size(); ++i) {
            time_slice second =
                slice(static_cast<double>(i), static_cast<double>(i + 1), one.messages[i]);
            second.closes_interval = i + 1 == one.messages.size();
            report.add_time_slice(second);
        }
        report.finish({.duration_s = static_cast<double>(one.messages.size())});
        const auto loaded = report.seconds().loaded();
        REQUIRE(loaded.has_value() == (one.per_second > 0));
        CHECK(report.record().under_load.has_value() == loaded.has_value());
        CHECK((format_summary(report.record()).find("under load") != std::string::npos) ==
              loaded.has_value());
        if (!loaded) continue;
        CHECK(*loaded->per_second == Approx(one.per_second));
    }
    CHECK(format_summary(short_run().record()).find("under load") ==
          std::string::npos);  // a client
}

TEST_CASE("seconds: the warm-up is no part of the rate under load") {
    second_counts seconds;
    for (int second = 0; second < 10; ++second) {
        time_slice one = slice(second, second + 1, second < 5 ? 500 : 10);
        one.in_warmup = second < 5;
        seconds.add(one, 0);
    }
    REQUIRE(seconds.loaded().has_value());
    CHECK(*seconds.loaded()->per_second == Approx(10));
    CHECK(seconds.loaded()->start_s == Approx(6));
}

namespace {

// By two workers, who took 200 ms each; how long the connections of each were open.
time_slice worked(double start_s, double end_s, double first_s, double second_s) {
    time_slice made = slice(start_s, end_s, 10);
    for (const double connected_s : {first_s, second_s}) {
        worker_time& worker = made.workers.emplace_back();
        worker.busy = std::chrono::milliseconds(200);
        worker.connected_s = connected_s;
    }
    return made;
}

}  // namespace

TEST_CASE("seconds: the time of processors and connections adds up, and what was asked for") {
    second_counts seconds;
    seconds.add(worked(0, 0.5, 1.5, 2), 0, 10.0);
    seconds.add(worked(0.5, 1, 1, 0), 0, 12.0);
    seconds.add(worked(1, 2, 1, 0), 0, 20.0);
    REQUIRE(seconds.all().size() == 2);
    const second_count& first = seconds.all()[0];
    CHECK(first.worker_cpu_s == Approx(0.8));
    CHECK(first.connected_s == Approx(4.5));
    CHECK(first.asked == 22.0);
    CHECK(seconds.all()[1].worker_cpu_s == Approx(0.4));
    CHECK(seconds.all()[1].connected_s == Approx(1));
}

TEST_CASE("seconds: connections, processor time and what was asked for are in the record") {
    auto run = test::description();
    run.asked = [](double until_s) { return until_s * 25; };
    run_report report(run);
    report.add_time_slice(worked(0, 1, 2, 3));
    auto last = worked(1, 1.5, 0.25, 0);
    last.closes_interval = last.partial = true;
    report.add_time_slice(last);
    const run_record record = report.record();
    CHECK(record.seconds.open_connections == std::vector<std::optional<double>>{5.0, 0.5});
    CHECK(record.seconds.worker_cpu_s[0] == Approx(0.4));
    CHECK(record.seconds.asked == std::vector<double>{25, 12.5});
    REQUIRE(record.intervals.size() == 1);
    CHECK(record.intervals[0].open_connections == Approx(3.5));
    CHECK(record.intervals[0].worker_cpu_s == Approx(0.8));
}

namespace {

// 120 messages that took so many milliseconds each, in a slice of so many seconds.
time_slice timed(double start_s, double end_s, int ms) {
    time_slice made = slice(start_s, end_s, 120);
    for (int i = 0; i < 120; ++i)
        for (auto& phase : made.counts.latency)
            phase.record(std::chrono::milliseconds(ms));
    return made;
}

double ms(const std::optional<std::chrono::nanoseconds>& time) {
    return time ? static_cast<double>(time->count()) / 1e6 : -1;
}

}  // namespace

TEST_CASE("seconds: percentiles are of all pieces of one, and the highest of those put together") {
    second_counts seconds;
    seconds.add(timed(0, 0.5, 10), 0);
    seconds.add(timed(0.5, 1, 20), 0);
    seconds.add(timed(1, 2, 30), 0);
    seconds.add(slice(2, 3, 0), 0);
    REQUIRE(seconds.all().size() == 3);
    CHECK(ms(seconds.all()[0].p50) == Approx(10).epsilon(0.01));
    CHECK(ms(seconds.all()[0].p90) == Approx(20).epsilon(0.01));
    CHECK(ms(seconds.all()[1].p50) == Approx(30).epsilon(0.01));
    CHECK(ms(seconds.all()[1].p99) == Approx(30).epsilon(0.01));
    CHECK(ms(seconds.all()[2].p50) == -1);
    for (std::size_t second = 3; second <= second_counts::most_seconds; ++second)
        seconds.add(slice(static_cast<double>(second), static_cast<double>(second + 1), 0), 0);
    CHECK(seconds.width_s() == 2);
    CHECK(ms(seconds.all()[0].p50) == Approx(30).epsilon(0.01));
    CHECK(ms(seconds.all()[1].p50) == -1);
}

TEST_CASE("seconds: a record has their percentiles, also where one is not known") {
    run_report report(test::description());
    report.add_time_slice(timed(0, 1, 10));
    report.add_time_slice(slice(1, 2, 0));
    auto last = timed(2, 3, 30);
    last.closes_interval = true;
    report.add_time_slice(last);
    const second_columns seconds = report.record().seconds;
    REQUIRE(seconds.t_s.size() == 3);
    CHECK(ms(seconds.message_p50->at(0)) == Approx(10).epsilon(0.01));
    CHECK(ms(seconds.message_p50->at(1)) == -1);
    CHECK(ms(seconds.message_p99->at(2)) == Approx(30).epsilon(0.01));
}

TEST_CASE("seconds: records of before have none of it, and lists of other lengths are refused") {
    const auto of = [](const std::string& more) {
        return parse_record(
            R"({"schema":"postal-record/1","program":"postal","totals":{},"seconds":{"width_s":1,)"
            R"("warmup":0,"t_s":[1,2],"messages":[5,6],"errors":[0,0])" +
            more + "}}");
    };
    const auto before = of("");
    REQUIRE(before.has_value());
    CHECK(before->seconds.messages[1] == 6);
    CHECK(before->seconds.open_connections.empty());
    CHECK(of(R"(,"open_connections":[1,2])").has_value());
    CHECK_FALSE(of(R"(,"open_connections":[1])").has_value());
    CHECK_FALSE(of(R"(,"worker_cpu_s":[1,2,3])").has_value());
    CHECK_FALSE(of(R"(,"worker_cpu_s":[1,-2])").has_value());
}

TEST_CASE("seconds: a long run has longer ones, and loses nothing") {
    second_counts seconds;
    std::uint64_t messages = 0;
    for (int second = 0; second < 10'001; ++second) {
        messages += static_cast<std::uint64_t>(second % 3);
        seconds.add(slice(second, second + 1, static_cast<std::uint64_t>(second % 3)), 0);
    }
    CHECK(seconds.width_s() == 4);
    CHECK(seconds.all().size() <= second_counts::most_seconds);
    std::uint64_t kept = 0;
    double end = 0;
    for (const second_count& one : seconds.all()) {
        CHECK(one.start_s == end);
        end = one.end_s;
        kept += one.messages;
    }
    CHECK(kept == messages);
    CHECK(end == 10'001);
    CHECK(seconds.rate().mean == Approx(1).epsilon(0.01));
}
