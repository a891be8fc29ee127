// SPDX-License-Identifier: GPL-3.0-or-later
// What is printed: numbers, tables, CSV, the page and its data, and that no text breaks out.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../hostile_text.hpp"
#include "base/text.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "printed.hpp"
#include "report/table.hpp"
#include "stats/shown.hpp"

using namespace postal;
using Catch::Contains;
using json = nlohmann::json;

namespace {

report::record plain_record() {
    report::record one;
    one.label = one.file = "run.json";
    one.program = "postal";
    one.duration_s = one.measured_s = 60;
    one.interval_s = 60;
    one.totals.messages = 1000;
    one.rate.mean = 1000;
    report::interval whole;
    whole.messages = 1000;
    whole.end_s = 60;
    whole.message_p50 = std::chrono::milliseconds{2};
    whole.message_p99 = std::chrono::milliseconds{9};
    one.intervals = {whole};
    report::phase message;
    message.name = "message";
    message.count = 1000;
    message.p50 = std::chrono::milliseconds{2};
    message.p99 = std::chrono::milliseconds{9};
    message.distribution.emplace();
    message.distribution->record(std::chrono::milliseconds{2});
    one.phases = {message};
    return one;
}

// A record in which every text tries to leave its place.
report::record hostile_record() {
    const std::string& attack = test::hostile_text;
    report::record one = plain_record();
    one.label = one.file = one.program = one.version = one.started = attack;
    one.argv = {attack};
    one.host.name = one.host.kernel = attack;
    one.generator.limited = true;
    one.generator.reason = attack;
    one.generator.worker_busy = 0.99;
    one.generator.slip_p99 = std::chrono::nanoseconds::max();
    one.errors = {{attack, 550, attack, 3, attack}, {attack, 0, attack, 3, attack}};
    one.thresholds = {{attack, std::numeric_limits<double>::max(), attack, false}};
    one.options = {{attack, attack}};
    one.totals.corrupt = 7;
    one.phases.front().name = attack;
    one.cpu_user_s = 1e308;
    one.duration_s = one.measured_s = 1e308;
    return one;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

}  // namespace

TEST_CASE("figures: units, separators and no more digits than mean something") {
    CHECK(report::show_latency(850.0) == "850 µs");
    CHECK(report::show_latency(12340.0) == "12.3 ms");
    CHECK(report::show_latency(std::optional<double>{}) == "–");
    CHECK(report::show_number(14752.4) == "14,752");
    CHECK(report::show_number(9.754) == "9.75");
    CHECK(report::show_number(0.0) == "0");
    CHECK(report::show_time("2026-01-01T12:34:56.789Z") == "2026-01-01 12:34:56 UTC");
    CHECK(report::show_time("yesterday") == "yesterday");
    CHECK(report::show_seconds(600) == "10m");
    CHECK(report::show_seconds(20.04999) == "20s");
    CHECK(report::show_share(1, 3) == "33.33 %");
    CHECK(report::show_share(1, 1000000) == "< 0.01 %");
    CHECK(report::show_share(999999, 1000000) == "> 99.99 %");
    CHECK(report::show_share(5, 5) == "100.00 %");
    CHECK(report::show_share(0, 0) == "–");
    CHECK(report::show_change(110.0, 100.0) == " (+10.0 %)");
    CHECK(report::show_change(2350.0, 100.0) == " (23.5 times)");
    CHECK(report::show_change(2350000.0, 100.0) == " (23,500 times)");
    CHECK(report::show_change(100.0, 0.0).empty());
    CHECK(report::show_change(100.0, 100.01).empty());
    report::record one;
    one.totals.bytes = 10'240;
    CHECK(report::show_per_second(one, &stats::counts::bytes) == "–");
    one.measured_s = 2;
    one.intervals.emplace_back().draining = true;
    one.intervals.back().bytes = 8192;
    CHECK(report::show_per_second(one, &stats::counts::bytes) == "1.00 KiB/s");
}

TEST_CASE("rendering: what differs where there is no share of what was before") {
    struct row {
        double before;
        double now;
        std::string wanted;
    };
    for (const auto& [before, now, wanted] : std::vector<row>{
             {100, 110, "b against a: no option differs; rate +10.0 %"},
             {100, 0, "b against a: no option differs; rate -100.0 %"},
             {100.01, 100, "b against a: no option differs; rate the same"},
             {0, 0, "b against a: no option differs; rate the same"},
             {0, 14500, "b against a: no option differs; rate 14,500/min instead of 0/min"},
             {1e-300, 1e300, "instead of"}}) {
        std::vector<report::record> records(2);
        records[0].label = "a";
        records[0].rate.mean = before;
        records[1].label = "b";
        records[1].rate.mean = now;
        CHECK_THAT(report::differences(records).at(0), Catch::Contains(wanted));
    }
}

TEST_CASE("figures: a command line can be pasted into a shell") {
    report::record one;
    one.argv = {"postal", "-t", "12", "/tmp/my users", "it's", "", "$(reboot)"};
    CHECK(report::show_command(one) == R"(postal -t 12 '/tmp/my users' 'it'\''s' '' '$(reboot)')");
}

TEST_CASE("table: columns line up whatever the width of a character") {
    const report::table shown{"t",
                              "Title",
                              {{"name"}, {"value", report::align::right}},
                              {{"µs", "1"}, {"longer", "1,000"}},
                              "a note"};
    CHECK(report::render_text(shown) ==
          "Title\n  name    value\n  µs          1\n  longer  1,000\n  (a note)\n");
    CHECK(report::render_markdown(shown) ==
          "## Title\n\n| name | value |\n| --- | ---: |\n| µs | 1 |\n| longer | 1,000 |\n\na "
          "note.\n");
    CHECK_THAT(report::render_html(shown), Contains("<td class=\"n\">1,000</td>"));
    CHECK_THAT(report::render_html(shown), Contains("<th scope=\"col\" class=\"n\">value</th>"));
    CHECK_THAT(report::render_html(shown), Contains("<th scope=\"row\">longer</th>"));
}

TEST_CASE("table: a cell of many columns names its own, for narrow screens") {
    report::table shown{"name", "Title", report::numbers({"a", "b", "c"}), {{"1", "2", "3"}}};
    CHECK(report::render_html(shown).find("data-column") == std::string::npos);
    shown.columns.push_back({"<e>"});
    shown.rows.front().push_back("5");
    CHECK_THAT(report::render_html(shown), Contains("<table class=\"stacks\">"));
    CHECK_THAT(report::render_html(shown), Contains("<td data-column=\"&lt;e&gt;\">5</td>"));
    CHECK_THAT(report::render_html(shown),
               Contains("<th scope=\"row\" data-column=\"a\" class=\"n\">1</th>"));
}

TEST_CASE("csv: one line a record, and as many fields as columns") {
    const auto one = plain_record();
    const std::string out = test::printed_of({one, one}).csv;
    CHECK(count_of(out, "\n") == 3);
    for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1) {
        const auto line = out.substr(at, out.find('\n', at) - at);
        CHECK(count_of(line, ",") + 1 == report::sheet_of(std::vector{one}).columns.size());
    }
    // Scripts count on these places.
    const auto columns = report::sheet_of(std::vector{one}).columns;
    CHECK(columns[0] == "record");
    CHECK(columns[9] == "messages");
    CHECK(columns[19] == "messages_per_minute");
    CHECK(columns[41] == "transcript");
}

TEST_CASE("csv: a text is neither a formula nor a second field") {
    auto one = plain_record();
    one.host.name = "=cmd|' /C calc'!A0";
    one.program = "a,\"b\"\n";
    const std::string out = test::printed_of({one}).csv;
    CHECK_THAT(out, Contains("\"'=cmd|' /C calc'!A0\""));
    CHECK_THAT(out, Contains("\"a,\"\"b\"\"\\n\""));
}

TEST_CASE("report: hostile texts stay texts in every output") {
    const std::vector<report::record> records{hostile_record()};
    const std::vector<report::record> two{hostile_record(), plain_record()};
    for (const auto& list : {records, two}) {
        const test::printed printed = test::printed_of(list);
        for (const std::string& out : {printed.text, printed.markdown, printed.csv, printed.page}) {
            CHECK(test::harm_in(out) == "");
            CHECK(out.find("nan") == std::string::npos);
        }
        CHECK(test::harm_in_page(printed.markdown) == "");
        CHECK(printed.markdown.find("<script") == std::string::npos);
        const std::string& page = printed.page;
        CHECK(test::harm_in_page(page) == "");
        CHECK(count_of(page, "<script") == 3);
        CHECK(count_of(page, "</script") == 3);
        CHECK(page.find("<!--") == std::string::npos);
        CHECK(page.find("alert(1)</script>") == std::string::npos);
        // The frame's words in a record are not filled in.
        CHECK_THAT(page, Contains("@DATA@"));
    }
}

TEST_CASE("report: a run without one message, one interval or one phase is shown") {
    report::record empty;
    empty.label = empty.file = "empty.json";
    empty.program = "postal";
    CHECK_THAT(test::printed_of({empty}).text, Contains("Not one message was accepted"));
    const std::string page = test::printed_of({empty, plain_record()}).page;
    CHECK_THAT(page, Contains("empty.json"));
    CHECK(test::printed_of({empty}).page.find("<canvas") == std::string::npos);
    for (const char* wrong : {"nan", "inf", "-0"}) {
        INFO(wrong);
        CHECK(test::printed_of({empty}).text.find(wrong) == std::string::npos);
    }
}

TEST_CASE("report: a limited generator and thresholds that were not met come first") {
    auto one = plain_record();
    one.generator.limited = true;
    one.generator.reason = "a worker was 97 % busy";
    one.generator.worker_busy = 0.97;
    one.thresholds = {{"p99(message)<1ms", 9000.0, "us", false}, {"errors==0", 0.0, "", true}};
    const std::string text = test::printed_of({one}).text;
    CHECK_THAT(text, Contains("! Generator limited: a worker was 97 % busy."));
    CHECK_THAT(text, Contains("! Threshold p99(message)<1ms was not met: measured 9.00 ms."));
    CHECK(text.find("! Generator") < text.find("Result"));
    CHECK_THAT(test::printed_of({one}).page, Contains("class=\"remark limit\""));
}

TEST_CASE("report: a machine that was full is said where the generator was not the limit") {
    auto one = plain_record();
    one.generator.verdict = stats::generator_verdict::machine_full;
    one.generator.run_delay = 0.45;
    one.generator.machine_idle = 0.01;
    const std::string text = test::printed_of({one}).text;
    CHECK_THAT(text, Contains("! Machine full: the machine was shared and full"));
    CHECK_THAT(text, Contains("longest wait for a processor                      45.0 %"));
    CHECK_THAT(test::printed_of({one}).page, Contains("class=\"remark limit\""));
    CHECK_THAT(test::printed_of({one, plain_record()}).page,
               Contains("<strong>machine full</strong>"));
    CHECK(test::printed_of({plain_record()}).text.find("Machine full") == std::string::npos);
}

TEST_CASE("report: what was asked for in vain is said") {
    auto one = plain_record();
    one.not_in_effect = {{"--in-flight 8: the server offers no CHUNKING, at most 2 in flight", 3}};
    CHECK_THAT(test::printed_of({one}).text,
               Contains("! Asked for and not in effect: --in-flight 8: the server offers no "
                        "CHUNKING, at most 2 in flight."));
}

TEST_CASE("report: several records begin with the options that differ") {
    auto one = plain_record();
    one.options = {{"in-flight", "1"}, {"record", "a.json"}, {"seed", "42"}, {"tls", "off"}};
    auto other = one;
    other.label = "other.json";
    other.options = {{"chunking", "auto"},
                     {"in-flight", "8"},
                     {"record", "b.json"},
                     {"seed", "42"},
                     {"tls", "off"}};
    const auto differ = report::differing_options_table({one, other});
    REQUIRE(differ.rows.size() == 2);
    CHECK(differ.rows[0] == std::vector<std::string>{"in-flight", "1", "8"});
    CHECK(differ.rows[1] == std::vector<std::string>{"chunking", "–", "auto"});
    const auto alike = report::option_table({one, other});
    REQUIRE(alike.rows.size() == 2);
    CHECK(alike.rows[0][0] == "seed");
    const std::string text = test::printed_of({one, other}).text;
    CHECK(text.find("Options that differ") < text.find("Result"));
    const std::string page = test::printed_of({one, other}).page;
    CHECK_THAT(page, Contains("<summary>Other options (2)</summary>"));
    CHECK(page.find("id=\"compared\"") < page.find("<canvas"));
    CHECK(count_of(page, "Options that differ") == 1);
    // Another program has other options.
    other.program = "bhm";
    CHECK(report::differing_options_table({one, other}).rows.size() == 1);
    CHECK(report::option_table({one, other}).rows.size() == 3);
    // One record has nothing to differ from.
    CHECK(report::differing_options_table({one}).rows.empty());
    CHECK(report::option_table({one}).rows.size() == 4);
}

TEST_CASE("report: several records share a remark that is true of all") {
    auto one = plain_record();
    one.transcript = true;
    auto other = one;
    other.label = "other";
    const auto remarks = report::all_remarks({one, other});
    REQUIRE(remarks.size() == 2);
    CHECK_THAT(remarks[0].text, Contains("run.json, other: A transcript"));
    CHECK_THAT(remarks[1].text, Contains("One run each: no verdict"));
}

TEST_CASE("report: a run that was given up says so, and its rate has the digits that are known") {
    auto one = plain_record();
    CHECK(test::printed_of({one}).text.find("The run was given up") == std::string::npos);
    one.ended = stats::run_ending::gave_up;
    CHECK_THAT(test::printed_of({one}).text, Contains("The run was given up"));
    one.ended = stats::run_ending::signal;
    one.generator.limited = true;
    const auto first = [&] { return report::all_remarks({one}).front().text; };
    CHECK_THAT(first(), Contains("Generator limited"));
    one.interrupted = stats::interruption{"SIGINT", 2.5, true, true};
    CHECK_THAT(first(),
               Catch::StartsWith("Interrupted by SIGINT after 2.5s, before the run's own end"));
    CHECK_THAT(first(), Contains("abandoned"));
    CHECK_THAT(test::printed_of({one}).text, Contains(", ended by a signal\n"));
    one.interrupted->early = one.interrupted->cut_short = false;  // as a server ends
    CHECK_THAT(first(), Contains("Generator limited"));
    one.interrupted.reset();
    one.ended = stats::run_ending::failure;
    CHECK_THAT(first(), Contains("The run failed"));
    one.ended = stats::run_ending::first_error;
    CHECK_THAT(first(), Contains("ended at its first error"));
    one.ended = stats::run_ending::threshold;
    CHECK_THAT(first(), Contains("because a threshold was missed"));
    report::message_rate rate;
    CHECK(stats::measured_text(rate, &report::message_rate::mean) == report::unknown);
    rate.mean = 4'546'140;
    rate.count = 4;
    CHECK(stats::measured_text(rate, &report::message_rate::mean) == "4,550,000");
    rate.stddev = 20;  // so that the mean is known to ten
    CHECK(stats::measured_text(rate, &report::message_rate::mean) == "4,546,140");
    rate.ci95 = {{4'545'140, 4'547'140}};
    CHECK(stats::measured_text(rate, &report::message_rate::mean) == "4,546,000");
}

TEST_CASE("chart data: a tail has the percentiles of its values") {
    report::phase of;
    of.distribution.emplace();
    for (int i = 1; i <= 5000; ++i)
        of.distribution->record(std::chrono::microseconds{i});
    const auto points = report::tail_of(of);
    REQUIRE(points.size() > 50);
    CHECK(points.size() < 250);
    CHECK(points.front().one_in == 1);
    CHECK(points.front().latency_us == Approx(1).epsilon(0.01));
    CHECK(points.back().one_in == 5000);
    CHECK(points.back().latency_us == 5000);
    for (std::size_t at = 1; at < points.size(); ++at) {
        INFO(points[at].one_in);
        CHECK(points[at].one_in > points[at - 1].one_in);
        CHECK(points[at].latency_us == Approx(5000 * (1 - 1 / points[at].one_in)).epsilon(0.03));
    }
    CHECK(report::tail_of(report::phase{}).empty());
    of.distribution->clear();
    CHECK(report::tail_of(of).empty());
}

TEST_CASE("chart data: a tail ends where messages were never accepted") {
    report::phase of;
    of.distribution.emplace();
    for (int i = 0; i < 90; ++i)
        of.distribution->record(std::chrono::milliseconds{1});
    of.not_accepted = 10;
    const auto points = report::tail_of(of);
    REQUIRE_FALSE(points.empty());
    CHECK(points.back().one_in <= 10);
    of.not_accepted = 0;
    CHECK(report::tail_of(of).back().one_in == 90);
}

TEST_CASE("chart data: what is finished after the stop is no point") {
    auto one = plain_record();
    report::interval rest;
    rest.start_s = rest.end_s = one.intervals.back().end_s;
    rest.end_s += 0.002;
    rest.messages = 12;
    rest.partial = true;
    const std::size_t before =
        json::parse(report::chart_data({one}))["series"][0]["intervals"].size();
    rest.draining = true;
    one.intervals.push_back(rest);
    CHECK(json::parse(report::chart_data({one}))["series"][0]["intervals"].size() == before);
}

TEST_CASE("chart data: a day of seconds becomes a bounded number of points") {
    auto one = plain_record();
    one.interval_s = 1;
    one.intervals.clear();
    for (int i = 0; i < 86400; ++i) {
        report::interval second;
        second.start_s = i;
        second.end_s = i + 1;
        second.messages = 100;
        second.message_p99 = std::chrono::microseconds{i == 5000 ? 9'000'000 : 2000};
        second.warmup = i < 60;
        one.intervals.push_back(second);
    }
    const auto data = json::parse(report::chart_data({one}));
    const auto& points = data["series"][0]["intervals"];
    CHECK(points.size() <= 752);
    double highest = 0;
    std::size_t covered = 0;
    for (const auto& point : points) {
        CHECK(point[2] == 6000.0);
        highest = std::max(highest, point[4].get<double>());
        covered += point[7].get<std::size_t>();
    }
    CHECK(highest == 9e6);
    CHECK(covered == 86400);
    CHECK(points[0][5] == 1);
    CHECK(report::intervals_a_point(one) == 116);
    CHECK_THAT(test::printed_of({one}).page, Contains("the mean of up to 116 intervals"));
    CHECK_THAT(test::printed_of({plain_record()}).page, Contains("Each step is one interval"));
}

TEST_CASE("chart data: rates are a minute's, whatever the interval's length") {
    auto one = plain_record();
    report::interval rest;
    rest.start_s = 60;
    rest.end_s = 75;
    rest.messages = 250;
    rest.partial = true;
    report::interval dead;
    dead.start_s = 75;
    dead.end_s = 135;
    one.intervals.push_back(rest);
    one.intervals.push_back(dead);
    const auto data = json::parse(report::chart_data({one}));
    const auto& points = data["series"][0]["intervals"];
    CHECK(points[0][2] == 1000.0);
    CHECK(points[1][2] == 1000.0);
    // A server that was dead: no rate, and no latency to draw.
    CHECK(points[2][2] == 0.0);
    CHECK(points[2][3].is_null());
    CHECK(points[2][4].is_null());
    CHECK(report::interval_table(one).rows[1][2] == "1,000");
}

TEST_CASE("page: each chart says in words what it shows") {
    const std::string page = test::printed_of({plain_record()}).page;
    for (const char* chart : {"chart-rate", "chart-latency", "chart-distribution"}) {
        CHECK_THAT(page, Contains(fmt::format("aria-describedby=\"{}-text\"", chart)));
        CHECK_THAT(page, Contains(fmt::format("<figcaption id=\"{}-text\">", chart)));
    }
}

TEST_CASE("chart data: cannot end the element that it stands in") {
    const std::string given = "</script><!--\xe2\x80\xa8\"\\\n";
    const std::string text = report::script_string(given);
    CHECK(text.find('<') == std::string::npos);
    CHECK(json::parse(text) == base::printable(given, 200));
}
