// SPDX-License-Identifier: GPL-3.0-or-later
// What can be asked of a run, what is refused before it, and what becomes of it.
#include "stats/threshold.hpp"

#include "stats/shown.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::stats;

namespace {

const std::vector<std::string> phases{"connect", "message"};

// 1000 started in a minute, 980 accepted after 1 ms, 15 rejected, 5 failed, 20 errors.
run_report sample_run() {
    run_report report(test::description());
    auto part = test::counted(0, 60, 980);
    part.counts.started = 1000;
    part.counts.rejected = 15;
    part.counts.failed = 5;
    for (int i = 0; i < 15; ++i)
        part.counts.errors.add("rcpt", 550, "5.1.1", "no");
    for (int i = 0; i < 5; ++i)
        part.counts.errors.add("data", 0, "reset", "");
    report.add_time_slice(part);
    return report;
}

}  // namespace

TEST_CASE("threshold: evaluation") {
    struct row {
        std::string_view text;
        double value;
        std::string_view unit;
        bool passed;
    };
    const std::vector<row> table{
        {"p99(message)<1s", 1000, "us", true},
        {"p99.9(message) < 1ms", 1000, "us", false},
        {"p999(message)<=1ms", 1000, "us", true},
        {"p50 ( message ) >= 1ms", 1000, "us", true},
        {"p100(message)==1ms", 1000, "us", true},
        {"mean(connect)<=5ms", 100, "us", true},
        {"min(connect)>200us", 100, "us", false},
        {"max(connect)<50us", 100, "us", false},
        {"rate>1000/min", 980, "messages/min", false},
        {"rate>16/s", 980, "messages/min", true},
        {"rate>=980", 980, "messages/min", true},
        {"errors<1%", 2, "%", false},
        {"errors<=2 %", 2, "%", true},
        {"errors==0", 20, "", false},
        {"errors!=0", 20, "", true},
        {"rejected<=15", 15, "", true},
        {"rejected<1.5%", 1.5, "%", false},
        {"deferred==0", 0, "", true},
        {"failed<1%", 0.5, "%", true},
        {"in_doubt==0", 0, "", true},
        {"messages>=1000", 980, "", false},
        {"started==1000", 1000, "", true},
        {"connections>0", 2, "", true},
        {"bytes>=4M", 980 * 5120, "", true},
    };
    const run_report report = sample_run();
    for (const auto& [text, value, unit, passed] : table) {
        INFO(text);
        const auto parsed = threshold::parse(text, phases);
        REQUIRE(parsed.has_value());
        const auto result = parsed->evaluate(report);
        CHECK(result.expression == text);
        REQUIRE(result.value.has_value());
        CHECK(*result.value == Approx(value).epsilon(0.01));
        CHECK(result.unit == unit);
        CHECK(result.passed == passed);
    }
}

TEST_CASE(
    "threshold: of counters that a program lacks none is offered, and one says where it counts") {
    std::vector<counter> own;
    for (const counter& one : all_counters())
        if (one.by == counted_by::all) own.push_back(one);
    const std::string unknown = threshold::parse("nothing_of_ours==0", phases, own).error().message;
    CHECK(unknown.find("corrupt") == std::string::npos);
    CHECK(unknown.find("rejected") != std::string::npos);
    const std::string other = threshold::parse("corrupt==0", phases, own).error().message;
    CHECK(other.find("'corrupt' is not counted here, only ") != std::string::npos);
}

TEST_CASE("threshold: what cannot be meant is refused with what is known") {
    struct row {
        std::string_view text;
        std::string_view part_of_message;
    };
    const std::vector<row> table{
        {"", "no operator"},
        {"p99(message)", "no operator"},
        {"p99(message)=1s", "no operator"},
        {"p99(mesage)<1s", "there is no phase 'mesage'; known are connect, message"},
        {"p99(message<1s", "')' is missing"},
        {"p0(message)<1s", "no metric 'p0'"},
        {"p101(message)<1s", "no metric 'p101'"},
        {"pxx(message)<1s", "no metric 'pxx'; known are pNN(PHASE)"},
        {"median(message)<1s", "no metric 'median'"},
        {"p99(message)<1", "not a duration"},
        {"p99(message)<", "not a duration"},
        {"rate>1000/fortnight", "not a rate"},
        {"erors==0", "no metric 'erors'; did you mean errors?"},
        {"errors==x", "not a whole number"},
        {"errors<x%", "not a number"},
        {"messages>50%", "a count, not a share"},
        {"bytes>1X", "not a size"},
        {"<1", "no metric ''"},
    };
    for (const auto& [text, part_of_message] : table) {
        INFO(text);
        const auto parsed = threshold::parse(text, phases);
        REQUIRE(parsed.has_error());
        INFO(parsed.error().message);
        CHECK(parsed.error().message.find(part_of_message) != std::string::npos);
        CHECK(parsed.error().message.find('\n') == std::string::npos);
    }
    CHECK(parse_thresholds({"errors==0", "x<1"}, test::description()).has_error());
}

TEST_CASE("threshold: a value is told with what decides on it") {
    struct {
        std::optional<double> value;
        std::string unit;
        bool reached;
        std::string_view wanted;
        std::string_view reason;
    } const rows[] = {
        {{}, "us", true, "", "nothing was measured"},
        {1'200, "us", true, "1.20 ms", "a latency"},
        {4.1e6, "us", false, "not reached; at least 4.10 s", "it may be more"},
        {1e300, "us", true, "1000000000 s", "no such time: a record that we did not write"},
        {0.1239, "%", true, "0.12 %", "a share"},
        {58'123.4, "messages/min", true, "58,123 messages/min", "a rate"},
        {0.1667, "messages/min", true, "0.17 messages/min", "10/h"},
        {12'345, "", true, "12,345", "a count"},
        {0.00035, "", true, "0.000350", "a sample has any size"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        threshold_result result{"", row.value, row.unit};
        result.reached = row.reached;
        CHECK(threshold_value_text(result) == row.wanted);
    }
}

TEST_CASE("threshold: what was never measured does not pass") {
    run_report report(test::description());
    const auto parsed =
        parse_thresholds({"p99(message)<1s", "errors<1%", "rate>0"}, report.description());
    REQUIRE(parsed.has_value());
    CHECK_FALSE(check_thresholds(*parsed, report));
    REQUIRE(report.thresholds.size() == 3);
    CHECK_FALSE(report.thresholds[0].value.has_value());
    CHECK_FALSE(report.thresholds[0].passed);
    CHECK(report.thresholds[1].passed);
    CHECK_FALSE(report.thresholds[2].passed);
}

TEST_CASE("threshold: errors without one message begun are 100 %") {
    run_report report(test::description());
    time_slice part(2);
    part.end_s = 1;
    part.closes_interval = true;
    part.counts.errors.add("connect", 0, "refused", "");
    report.add_time_slice(part);
    const auto result = threshold::parse("errors<1%", phases)->evaluate(report);
    CHECK(*result.value == 100);
    CHECK_FALSE(result.passed);
}

TEST_CASE("threshold: what ends a run before its end, once there are enough samples") {
    struct row {
        std::string_view text;
        bool missed;
        std::string_view reason;
    };
    // 1000 started, 15 rejected, 20 errors, 980 latencies of 1 ms
    const std::vector<row> table{
        {"errors<1%", false, "only at the end"},
        {"errors<1%;abort", true, "2 %"},
        {"errors<1% ; abort = 1000", true, "as many samples as it wants"},
        {"errors<1%;abort=1001", false, "one too few"},
        {"errors<3%;abort", false, "it holds"},
        {"p99(message)<1us;abort=980", true, "values of the latency are its samples"},
        {"p99(message)<1us;abort=981", false, "not the messages that were started"},
        {"p99(message)<1s;abort", false, "it holds"},
        {"rate>=2000;abort", true, "980 a minute"},
        {"rate>=2000;abort=1001", false, "too few started"},
        {"rejected<=14;abort", true, "a count needs no samples"},
        {"in_doubt==0;abort", false, "it holds"},
        {"rejected==0;abort", true, "never again"},
    };
    const run_report report = sample_run();
    for (const row& each : table) {
        INFO(each.text << ": " << each.reason);
        const auto one = threshold::parse(each.text, phases);
        REQUIRE(one.has_value());
        CHECK(one->missed_already(report) == each.missed);
        CHECK(one->evaluate(report).expression == each.text);
    }
    run_report without_messages(test::description());
    auto part = test::counted(0, 60, 0);
    for (int i = 0; i < 100; ++i)
        part.counts.errors.add("connect", 0, "refused", "");
    without_messages.add_time_slice(part);
    CHECK(threshold::parse("errors<1%;abort", phases)->missed_already(without_messages));
}

TEST_CASE("threshold: what cannot end a run before its end is refused") {
    for (const std::string_view text :
         {"messages>=1000;abort", "errors!=0;abort", "errors==5;abort", "limited==0;abort",
          "errors<1%;", "errors<1%;abort=", "errors<1%;abort=-1", "errors<1%;abortive",
          "errors<1%;abort;abort"}) {
        INFO(text);
        CHECK_FALSE(threshold::parse(text, phases).has_value());
    }
}
