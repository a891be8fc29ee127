// SPDX-License-Identifier: GPL-3.0-or-later
// Every counter turns up wherever counters are shown, and so does one that somebody adds.
#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "printed.hpp"
#include "stats/interval_log.hpp"
#include "stats/record_writer.hpp"
#include "stats/summary.hpp"
#include "stats/threshold.hpp"

using namespace postal;
using Catch::Contains;

namespace {

// The table, and a row that nothing in the suite knows. It borrows a number, since `counts` has no
// member for it.
const std::vector<stats::counter>& rows() {
    static const std::vector<stats::counter> made = [] {
        const auto known = stats::all_counters();
        std::vector<stats::counter> list(known.begin(), known.end());
        list.push_back({.name = "greylisted",
                        .title = "greylisted",
                        .value = &stats::counts::foreign,
                        .kind = stats::counter_kind::outcome,
                        .log = stats::logged::extended,
                        .failure = true,
                        .meaning = "to come again",
                        .remark = "messages were greylisted"});
        return list;
    }();
    return made;
}

// A run in which every counter means something, and each has a number of its own.
stats::run_report counted_run() {
    stats::run_description description;
    description.program = "postal";
    description.counters = rows();
    description.serves = description.defers = description.ends_mail = true;
    description.reads_mail = true;
    description.checks_integrity = true;
    description.due_phase = description.message_phase;
    description.phases = {"message"};
    stats::time_slice piece{1};
    piece.end_s = 60;
    piece.closes_interval = true;
    std::uint64_t next = 5000;
    for (const stats::counter& one : stats::all_counters())
        piece.counts.*one.value = ++next;
    piece.counts.error_events = 0;
    for (int i = 0; i < 321; ++i)
        piece.counts.errors.add("rcpt", 550, "5.1.1", "");
    stats::run_report report{description};
    report.add_time_slice(piece);
    return report;
}

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream from{line};
    for (std::string field; std::getline(from, field, ',');)
        fields.push_back(field);
    return fields;
}

// The field below that column.
std::string field_of(const std::string& header, const std::string& line, std::string_view column) {
    const auto columns = split(header);
    const auto found = std::find(columns.begin(), columns.end(), column);
    const auto fields = split(line);
    const auto at = static_cast<std::size_t>(found - columns.begin());
    return at < fields.size() ? fields[at] : "no such column";
}

report::record read_back(const stats::run_report& run) {
    auto parsed = stats::parse_record(stats::record_text(run), rows());
    REQUIRE(parsed.has_value());
    report::record read{std::move(*parsed)};
    read.label = read.file = "run.json";
    return read;
}

// A count as people are shown it.
std::string shown(const stats::counter& one, std::uint64_t value) {
    return one.unit == stats::counter_unit::octets ? base::format_size(value)
                                                   : base::format_count(value);
}

}  // namespace

TEST_CASE("counters: each is written to the record and read back") {
    const auto run = counted_run();
    const auto read = read_back(run);
    REQUIRE(read.intervals.size() == 1);
    for (const stats::counter& one : rows()) {
        INFO(one.name);
        CHECK(read.totals.has(one));
        CHECK(read.totals.*one.value == run.totals().counted().*one.value);
        const bool logged = one.log != stats::logged::never;
        if (logged) CHECK(read.intervals[0].*one.value == run.totals().counted().*one.value);
    }
}

TEST_CASE("counters: each that an interval has is a column of the log") {
    const auto run = counted_run();
    const stats::interval_log log(stdout, stats::log_format::extended, run.description());
    for (const stats::counter& one : rows()) {
        if (one.log == stats::logged::never) continue;
        INFO(one.name);
        const std::uint64_t value = run.totals().counted().*one.value;
        const std::uint64_t wanted = one.unit == stats::counter_unit::octets ? value / 1024 : value;
        CHECK(field_of(log.header(), log.line(run.intervals()[0]),
                       one.column.empty() ? one.name : one.column) == std::to_string(wanted));
    }
}

TEST_CASE("counters: each can have a threshold, and each failure one as a share") {
    const auto run = counted_run();
    for (const stats::counter& one : rows()) {
        INFO(one.name);
        const std::uint64_t value = run.totals().counted().*one.value;
        const auto text = std::string{one.name} + "==" + std::to_string(value);
        const auto parsed = stats::threshold::parse(text, {}, rows());
        REQUIRE(parsed.has_value());
        CHECK(parsed->evaluate(run).passed);
        const auto share = stats::threshold::parse(std::string{one.name} + "<0.1%", {}, rows());
        CHECK(share.has_value() == one.failure);
    }
}

TEST_CASE("counters: a threshold on what nobody counts in this run is refused, and says who does") {
    struct row {
        std::string metric;
        std::string_view who;
    };
    const std::array<row, 6> table{{{"corrupt", "where messages are verified"},
                                    {"deleted", "by readers of mail"},
                                    {"due", "with --open-loop"},
                                    {"unheard", "by servers"},
                                    {"not_retried", "that defers recipients"},
                                    {"stored", "stored or bounced"}}};
    const stats::run_description sender;
    for (const row& each : table) {
        INFO(each.metric);
        const auto parsed = stats::parse_thresholds({"errors==0", each.metric + "==0"}, sender);
        REQUIRE(parsed.has_error());
        CHECK(parsed.error().message.starts_with(each.metric + "==0: "));
        CHECK(parsed.error().message.ends_with(each.who));
    }
    for (const stats::counter& one : rows()) {
        INFO(one.name);
        const auto text = std::string{one.name} + "==0";
        CHECK(stats::parse_thresholds({text}, counted_run().description()).has_value());
    }
    CHECK(stats::parse_thresholds({"not_started==0"}, sender).has_value());
}

TEST_CASE("counters: each is in the summary and in the report, with its name") {
    const auto run = counted_run();
    const auto read = read_back(run);
    stats::run_record of_a_reader = run.record();
    of_a_reader.program = "rabid";
    const std::string summary = stats::format_summary(of_a_reader);
    const std::string report = test::printed_of({read}).text;
    const std::string compared = test::printed_of({read, read}).markdown;
    for (const stats::counter& one : rows()) {
        INFO(one.name);
        const std::string number = shown(one, run.totals().counted().*one.value);
        const bool phrase = one.unit == stats::counter_unit::octets;
        const bool heading = one.kind == stats::counter_kind::error;
        const std::string title(one.title);
        const std::string told(run.description().title_of(one, 2));
        // A mailbox is its mail's recipient.
        if (one.name == "recipients") {
            CHECK_THAT(summary, !Contains(number + " " + told));
        } else {
            CHECK_THAT(summary, Contains(phrase    ? number
                                         : heading ? title + ": " + number
                                                   : number + " " + told));
        }
        for (const std::string& text : {report, compared}) {
            CHECK_THAT(text, Contains(title));
            CHECK_THAT(text, Contains(number));
        }
        if (!one.remark.empty())
            CHECK_THAT(report, Contains(number + " " + std::string{one.remark}));
    }
}

TEST_CASE("counters: each is a column of the CSV, and what a record does not have an empty field") {
    const auto run = counted_run();
    const auto read = read_back(run);
    std::istringstream csv{test::printed_of({read}).csv};
    std::string header;
    std::string line;
    std::getline(csv, header);
    std::getline(csv, line);
    for (const stats::counter& one : rows()) {
        INFO(one.name);
        // "started" is when the run was.
        const std::string column = std::string{one.name} + (one.name == "started" ? "_count" : "");
        CHECK(field_of(header, line, column) == std::to_string(run.totals().counted().*one.value));
    }
    report::record empty;
    empty.file = "run.json";
    CHECK_THAT(test::printed_of({empty}).csv, Contains(",,,,"));
}
