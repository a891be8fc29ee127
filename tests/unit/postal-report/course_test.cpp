// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn over time: by the interval or the second, and a level line as a sentence.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <vector>

#include "postal-report/chart_data.hpp"
#include "printed.hpp"
#include "report/table.hpp"

using namespace postal;
using Catch::Contains;
using json = nlohmann::json;
using namespace std::chrono_literals;

namespace {

report::interval stretch(double start_s, double end_s, std::optional<double> open) {
    report::interval made;
    made.start_s = start_s;
    made.end_s = end_s;
    made.messages = static_cast<std::uint64_t>((end_s - start_s) * 100);
    made.open_connections = open;
    made.worker_cpu_s = (end_s - start_s) / 4;
    return made;
}

void add(stats::second_columns& to, const report::interval& one) {
    to.t_s.push_back(one.end_s);
    to.messages.push_back(one.messages);
    to.errors.push_back(0);
    to.open_connections.push_back(one.open_connections);
    to.worker_cpu_s.push_back(one.worker_cpu_s.value_or(0));
}

stats::second_columns stretches(const std::vector<double>& open) {
    stats::second_columns made;
    for (std::size_t i = 0; i < open.size(); ++i)
        add(made, stretch(static_cast<double>(i), static_cast<double>(i) + 1, open[i]));
    return made;
}

std::vector<report::interval> intervals(int number) {
    std::vector<report::interval> made;
    for (int i = 0; i < number; ++i)
        made.push_back(stretch(i, i + 1, 4));
    return made;
}

// One interval, and a second for each number of open connections.
report::record short_run(const std::vector<double>& open) {
    report::record one;
    one.label = one.file = "run.json";
    one.program = "postal";
    one.interval_s = 60;
    one.seconds = stretches(open);
    one.intervals = {stretch(0, static_cast<double>(open.size()), open.back())};
    one.intervals.front().message_p50 = 1ms;
    one.intervals.front().message_p90 = 2ms;
    return one;
}

std::string page_of(const std::vector<report::record>& records) {
    return test::printed_of(records).page;
}

json series_of(const report::record& one) {
    return json::parse(report::chart_data({one}))["series"][0];
}

}  // namespace

TEST_CASE("course: fewer than ten intervals are shown by the second") {
    report::record one = short_run({4, 4, 4});
    CHECK(report::shown_by_second(one));
    CHECK(series_of(one)["seconds"].size() == 3);
    CHECK(series_of(one)["intervals"].size() == 1);
    CHECK(series_of(one)["seconds"][1] ==
          json::parse("[1,2,6000,null,null,0,0,1,0,null,null,4,0.25]"));
    CHECK(series_of(one)["intervals"][0][10] == 2000);
    CHECK_THAT(page_of({one}), Contains("By second, since the run has fewer than ten intervals: "
                                        "each step is one second") &&
                                   Contains("in the table of seconds"));

    one.intervals = intervals(10);
    CHECK_FALSE(report::shown_by_second(one));
    CHECK(series_of(one)["seconds"].empty());
    CHECK_THAT(page_of({one}), Contains("Each step is one interval") && !Contains("By second"));

    one.intervals.resize(3);  // nine would do, but seconds say no more than these
    CHECK_FALSE(report::shown_by_second(one));
    one.seconds = {};  // of an older version
    one.intervals.resize(1);
    CHECK_FALSE(report::shown_by_second(one));
    CHECK(series_of(one)["intervals"].size() == 1);
}

TEST_CASE("course: what was finished after the stop is in none") {
    report::record one = short_run({4, 4});
    one.intervals.push_back(stretch(2, 2.5, 0));
    one.intervals.back().draining = true;
    CHECK(report::shown_by_second(one));
    one.seconds = {};
    REQUIRE(report::course_of(one).size() == 1);
    CHECK(json::parse(report::chart_data({one}))["longest_s"] == 2);
}

TEST_CASE("course: a rest of some milliseconds is no second of its own") {
    report::record one = short_run({4, 4, 4});
    add(one.seconds, stretch(3, 3.04, 0));
    const auto course = report::course_of(one);
    REQUIRE(course.size() == 3);
    CHECK(course.back().end_s == Approx(3.04));
    CHECK(course.back().messages == 104);
    CHECK(course.back().processors() == Approx(0.25));
    one.seconds.t_s.back() = 3.2;
    CHECK(report::course_of(one).size() == 4);
    one.seconds.t_s.back() = 3.04;
    one.seconds.warmup = 3;
    CHECK(report::course_of(one).size() == 4);
}

TEST_CASE("course: connections are a sentence where they stay, a chart where they do not") {
    struct row {
        std::vector<double> open;
        const char* sentence;  // null: a chart
    };
    const std::vector<row> rows{
        {{4, 4, 4}, "Connections open, on the average of each second: 4."},
        {{3.5, 4.25, 3.5}, "on the average of each second: 3.5 to 4.25."},
        {{95, 100, 97, 96}, "on the average of each second: 95 to 100."},
        {{0.031, 0.034}, "on the average of each second: 0.03."},
        {{4}, "on the average of each second: 4."},
        {{4, 4, 0}, nullptr},
        {{1, 2, 3, 4}, nullptr},
        {{80, 100, 100}, nullptr},
        {{0, 8, 8, 0}, nullptr},
    };
    for (const row& each : rows) {
        report::record one = short_run(each.open);
        one.intervals.clear();
        const std::string page = page_of({one});
        INFO(json(each.open).dump());
        CHECK((page.find("id=\"chart-open\"") != page.npos) == (each.sentence == nullptr));
        if (each.sentence != nullptr)
            CHECK_THAT(page, Contains(each.sentence));
        else
            CHECK_THAT(page, !Contains("Connections open,"));
    }
}

TEST_CASE("course: of several records what one has is drawn for all, and sentences name them") {
    report::record steady = short_run({4, 4, 4});
    report::record other = short_run({8, 9, 8});
    steady.label = "a<b";
    other.label = "b";
    CHECK_THAT(page_of({steady, other}), Contains("each second: a&lt;b 4, b 8 to 9.") &&
                                             !Contains("id=\"chart-open\"") &&
                                             Contains("Processors that the workers kept busy") &&
                                             !Contains("id=\"chart-workers\""));
    other = short_run({1, 5, 9});
    CHECK_THAT(page_of({steady, other}), Contains("id=\"chart-open\""));
    other.seconds = {};
    other.intervals = intervals(12);
    CHECK_THAT(page_of({steady, other}),
               Contains("one interval, or one second of a run with fewer than ten intervals"));
}

TEST_CASE("course: records of before have no such charts, tables and sentences") {
    report::record one = short_run({4, 4, 4});
    one.intervals = intervals(12);
    for (report::interval& each : one.intervals)
        each.open_connections = each.worker_cpu_s = std::nullopt;
    CHECK(report::course_table(one).rows.empty());
    const std::string page = page_of({one});
    for (const char* absent : {"id=\"chart-open\"", "id=\"chart-workers\"", "Connections open"})
        CHECK_THAT(page, !Contains(absent));
    CHECK_THAT(page, Contains("id=\"chart-rate\"") && Contains("id=\"chart-latency\""));
}

TEST_CASE("course: the page has in a table what the charts draw") {
    report::record one = short_run({4, 5, 9});
    one.seconds.warmup = 1;
    one.seconds.asked = {50, 50, 50};
    const auto made = report::course_table(one);
    CHECK(made.title == "Seconds");
    REQUIRE(made.rows.size() == 3);
    CHECK(made.rows[0] ==
          std::vector<std::string>{"1s", "100", "6,000", "3,000", "0", "4", "0.25", "warm-up"});
    CHECK_THAT(page_of({one}), Contains("Seconds (3)"));
    CHECK_THAT(test::printed_of({one}).text, !Contains("Seconds"));
}

TEST_CASE("course: many points are put together") {
    report::record one = short_run({4, 4, 4});
    one.intervals.clear();
    for (int i = 0; i < 3000; ++i) {
        one.intervals.push_back(stretch(i, i + 1, i));
        one.intervals.back().message_p90 = std::chrono::microseconds{i};
    }
    const json points = series_of(one)["intervals"];
    CHECK(points.size() == 750);
    CHECK(points[1][10] == 7);  // the highest
    CHECK(points[1][11] == 5.5);
    CHECK(points[1][12] == 0.25);
}
