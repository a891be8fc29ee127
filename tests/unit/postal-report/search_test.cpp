// SPDX-License-Identifier: GPL-3.0-or-later
// What a report shows of a search of the highest rate.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/run.hpp"
#include "postal-report/search.hpp"
#include "printed.hpp"
#include "report/table.hpp"
#include "stats/summary.hpp"

using namespace postal;
using capacity::goal_end;
using capacity::search_end;
using Catch::Contains;
using json = nlohmann::json;

namespace {

capacity::recorded_trial trial(double load, capacity::loss_class is, double lost) {
    capacity::recorded_trial made;
    made.asked.load = load;
    made.duration_s = 5;
    made.intended = static_cast<std::uint64_t>(load * 5);
    capacity::recorded_judgement& said = made.goals.emplace_back();
    said.said.measured = said.said.shown = is;
    said.said.loss_ratio = lost;
    said.losses.late = static_cast<std::uint64_t>(lost * load * 5);
    said.losses.on_time = made.intended - said.losses.late;
    return made;
}

// 404 between 400 and 408, of one promise.
report::record searched(search_end end) {
    report::record one;
    one.label = one.file = "run.json";
    one.program = "postal";
    capacity::search_record& search = one.search.emplace();
    search.unit = "messages";
    search.goals = {{.promise = "p99(message)<1s", .metric = "p99(message)"}};
    search.result.end = end;
    search.result.confirmed = true;
    search.result.goals = {{.end = goal_end::regular,
                            .lower = 400,
                            .upper = 408,
                            .conditional_throughput = 399.5,
                            .rate = 404}};
    search.sentence = "what was found";
    search.trials = {trial(400, capacity::loss_class::low, 0),
                     trial(408, capacity::loss_class::high, 0.03)};
    return one;
}

json drawn(const report::record& of) {
    return json::parse(report::search_data(of));
}

}  // namespace

TEST_CASE("search: a number that did not come again is no result, and nothing marks it") {
    struct row {
        search_end end;
        bool confirmed;
        std::vector<std::string> cells;  // result, a second, conditional throughput
        json lower, upper;
    };
    const row of =
        GENERATE(row{search_end::found, true, {"found", "404", "400"}, 400, 408},
                 row{search_end::found, false, {"found, not confirmed", "404", "400"}, 400, 408},
                 // 120 % held, too: no bound is above it.
                 row{search_end::at_least, false, {"at least", "400", "400"}, 400, nullptr},
                 row{search_end::unstable, false, {"unstable", "–", "–"}, nullptr, nullptr});
    CAPTURE(of.end, of.confirmed);
    auto one = searched(of.end);
    one.search->result.confirmed = of.confirmed;
    one.search->result.confirmation = {{.load = 400}};
    const report::table shown = report::goal_table({one});
    const std::vector<std::string> cells = shown.rows.at(0);
    CHECK(std::vector{cells.at(1), cells.at(2), cells.at(5)} == of.cells);
    CHECK(cells.at(3) == "400");
    CHECK(cells.at(4) == "408");
    CHECK(drawn(one)["lower"] == of.lower);
    CHECK(drawn(one)["upper"] == of.upper);
    const std::string caption = report::search_charts(one).at(0).caption;
    const bool marked = !of.lower.is_null();
    CHECK_THAT(caption, Contains(marked ? "The band is between" : "No band is marked"));
    CHECK_THAT(caption, Contains("what was found"));
}

TEST_CASE("search: where one goal is unstable no other is confirmed") {
    auto one = searched(search_end::unstable);
    one.search->goals.push_back({.promise = "errors<1%", .metric = "errors"});
    one.search->result.goals.push_back(one.search->result.goals.front());
    const report::table shown = report::goal_table({one});
    CHECK(shown.rows.at(0).at(1) == "unstable");
    CHECK(shown.rows.at(1).at(1) == "not confirmed");
    one.search->result.end = search_end::found;
    CHECK(report::goal_table({one}).rows.at(1).at(1) == "found");
}

TEST_CASE("search: two of them are compared by what they found, and not by their trials") {
    struct row {
        double rate;
        search_end end;
        std::string wanted;
        std::string change;
    };
    for (const auto& [rate, end, wanted, change] : std::vector<row>{
             {808, search_end::found,
              "found rate +100.0 %: 808 messages/s (800 to 816) instead of 404 messages/s (400 to "
              "408)",
              " (+100.0 %)"},
             {404, search_end::found, "no option differs; found rate the same", ""},
             {404, search_end::unstable, "found unstable instead of 404 messages/s (400 to 408)",
              ""}}) {
        INFO(wanted);
        std::vector<report::record> records{searched(search_end::found), searched(end)};
        records[0].label = "a";
        records[1].label = "b";
        records[0].rate.mean = 100;
        records[1].rate.mean = 900;
        records[1].totals.error_events = 5;
        records[1].generator.verdict = stats::generator_verdict::machine_full;
        capacity::goal_result& found = records[1].search->result.goals[0];
        found.rate = rate;
        found.lower = rate / 404 * 400;
        found.upper = rate / 404 * 408;
        const std::string said = report::differences(records).at(0);
        CHECK_THAT(said, Contains(wanted));
        CHECK_THAT(said, !Contains("errors") && !Contains("+800"));
        const auto lanes = std::get<report::lanes>(report::headline(records));
        CHECK(lanes.title == "The highest rate that was found");
        CHECK(lanes.each[0].unit == "messages/s");
        CHECK(lanes.each[1].change == change);
        CHECK(lanes.each[1].details.size() == 1);
        const auto result = report::result_table(records);
        CHECK(result.rows[0][2] == "900 /min");
        // One that did not search is no measure for one that did.
        records[0].search.reset();
        CHECK(report::differences(records).at(0) == "b against a: no option differs");
        CHECK(std::get<report::lanes>(report::headline(records)).each[1].change.empty());
    }
}

TEST_CASE("search: what the charts draw has names") {
    auto one = searched(search_end::found);
    one.search->beside = {{.program = "rabid", .unit = "visits", .share = 0.2}};
    capacity::recorded_trial& last = one.search->trials.back();
    last.p99 = std::chrono::milliseconds{3};
    last.backlog_end = 7;
    last.beside = {{.backlog_end = 5, .p99 = std::chrono::milliseconds{40}}};
    last.goals.front().losses = {.on_time = 900, .late = 60, .errors = 30, .not_started = 10};
    last.goals.front().said.loss_ratio = 0.1;
    one.search->trials.emplace_back().asked.load = 1000;  // says nothing
    const json shown = drawn(one);
    REQUIRE(shown["trials"].size() == 2);
    const auto value = [](const json& names, const json& of, const char* name) {
        const auto found = std::find(names.begin(), names.end(), name);
        REQUIRE(found != names.end());
        return of.at(static_cast<std::size_t>(found - names.begin()));
    };
    const auto of_last = [&](const char* name) {
        return value(shown["columns"], shown["trials"].at(1), name);
    };
    CHECK(of_last("rate") == 408);
    CHECK(of_last("p50").is_null());
    CHECK(of_last("p99") == 3000);
    CHECK(of_last("lost") == 10);
    CHECK(of_last("errors") == 3);
    CHECK(of_last("not_begun") == 1);
    CHECK(of_last("backlog") == 7);
    CHECK(of_last("missed") == 1);
    CHECK(value(shown["columns"], shown["trials"].at(0), "missed") == 0);
    const json beside = of_last("beside").at(0);
    CHECK(value(shown["beside_columns"], beside, "p99") == 40000);
    CHECK(value(shown["beside_columns"], beside, "backlog") == 5);
}

TEST_CASE("search: how what was lost was lost stands with each trial, where it was") {
    auto one = searched(search_end::found);
    const auto titles = [&] {
        std::vector<std::string> made;
        for (const report::column& each : report::trial_table(one).columns)
            made.push_back(each.title);
        return made;
    };
    const auto has = [&](const char* title) {
        const auto all = titles();
        return std::find(all.begin(), all.end(), title) != all.end();
    };
    CHECK(has("late"));
    CHECK_FALSE(has("errors"));
    CHECK_FALSE(has("not begun"));
    one.search->trials.back().goals.front().losses = {
        .on_time = 900, .late = 60, .errors = 30, .not_started = 10};
    CHECK(has("errors"));
    CHECK(has("not begun"));
    one.search->trials.emplace_back().asked.load = 1000;  // says nothing
    const report::table shown = report::trial_table(one);
    for (const auto& row : shown.rows)
        CHECK(row.size() == shown.columns.size());
    const auto at = static_cast<std::size_t>(
        std::find_if(shown.columns.begin(), shown.columns.end(),
                     [](const report::column& each) { return each.title == "late"; }) -
        shown.columns.begin());
    const std::vector<std::string> parts(
        shown.rows.at(1).begin() + static_cast<std::ptrdiff_t>(at),
        shown.rows.at(1).begin() + static_cast<std::ptrdiff_t>(at + 3));
    CHECK(parts == std::vector<std::string>{"6.00 %", "3.00 %", "1.00 %"});
    CHECK(shown.rows.at(2).at(at) == "–");
    // On a page of 80 columns no line is wider.
    const std::string text = report::render_text(shown, 80);
    for (const std::string_view line : base::split(text, '\n'))
        CHECK(base::columns_of(line) <= 80);
}

TEST_CASE("search: all values of each goal are in each form, also where nobody asked for others") {
    auto one = searched(search_end::found);
    capacity::goal& first = one.search->goals.front();
    first.final_trial_s = 60;
    first.duration_sum_s = 180;
    first.exceed_ratio = 0.25;
    first.width = 0.005;
    one.search->goals.push_back({.promise = "errors<1%", .metric = "errors"});
    one.search->goals.back().loss_ratio = 0.001;
    one.search->result.goals.push_back(one.search->result.goals.front());
    one.search->min_load = 1;
    one.search->max_load = 900;
    const report::table shown = report::search_goal_table({one});
    const std::vector<std::vector<std::string>> wanted{
        {"p99(message)<1s", "1.00 %", "2s", "1m", "3m", "0.25", "0.500 %"},
        {"errors<1%", "0.100 %", "2s", "20s", "1m", "0.5", "2.00 %"}};
    CHECK(shown.rows == wanted);
    CHECK_THAT(shown.note, Contains("Goal Exceed Ratio"));
    CHECK_THAT(shown.note, Contains("Min Load 1.00 messages/s, Max Load 900"));

    const test::printed all = test::printed_of(std::vector{one});
    for (const std::string& form : {all.text, all.markdown, all.page})
        for (const char* title : {"Search goals", "exceed", "relevant", "conditional"})
            CHECK_THAT(form, Contains(title));
    CHECK_THAT(all.page, Contains("relevant lower bound"));
    CHECK_THAT(all.csv, Contains("goal_1_relevant_lower_bound,goal_1_relevant_upper_bound,"
                                 "goal_1_conditional_throughput,goal_1_loss_ratio"));
    CHECK_THAT(all.csv, Contains("errors<1%,found,404,400,408,399.500,0.001000,2,20,60,0.500,"
                                 "0.0200\n"));
    const std::string text = report::render_text(shown, std::size_t{80});
    for (const std::string_view line : base::split(text, '\n'))
        CHECK(base::columns_of(line) <= 80);
    CHECK(report::search_goal_table({report::record{}}).rows.empty());
}

TEST_CASE("search: the summary has the conditional throughput of one goal, where one stands") {
    auto one = searched(search_end::found);
    CHECK_THAT(stats::format_summary(one),
               Contains("conditional throughput 400 messages/s; 0 trials in 0s"));
    one.search->result.end = search_end::unstable;
    CHECK_THAT(stats::format_summary(one), !Contains("conditional throughput"));
    // Of several each goal has its own line.
    one.search->goals.push_back({.promise = "errors<1%", .metric = "errors"});
    one.search->result.goals.push_back(one.search->result.goals.front());
    const std::string unstable = stats::format_summary(one);
    CHECK_THAT(unstable, Contains("p99(message)<1s: 404 messages/s (400 to 408), conditional "
                                  "throughput 400, unstable"));
    CHECK_THAT(unstable, Contains(", not confirmed\n"));
}
