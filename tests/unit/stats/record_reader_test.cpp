// SPDX-License-Identifier: GPL-3.0-or-later
// Records as they are written and read: that nothing is lost on the way, whatever stands in one,
// what is taken of others, what is refused and how that is said.
#include "stats/record_reader.hpp"

#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <set>
#include <string>

#include "record_filler.hpp"
#include "record_property.hpp"
#include "stats/record_writer.hpp"

using namespace postal;

namespace {

std::string with(const std::string& members) {
    return R"({"schema": "postal-record/1", "program": "postal", "totals": {"messages": 5})" +
           (members.empty() ? "" : ", " + members) + "}";
}

// Why it is refused; empty: it is taken.
std::string refusal(const std::string& text) {
    const auto read = stats::parse_record(text);
    return read ? std::string{} : read.error().message;
}

}  // namespace

TEST_CASE("record: what is written is what is read, whatever is known") {
    for (unsigned seed = 0; seed < 12; ++seed) {
        const auto written = stats::record_text(stats::test::filled_record(seed), seed % 3);
        const auto read = stats::parse_record(written);
        INFO((read ? std::string{} : read.error().message));
        REQUIRE(read.has_value());
        CHECK(stats::record_text(*read, seed % 3) == written);
    }
}

TEST_CASE("record: each member of another type, null or absent") {
    const std::set<std::string> needed{"program",
                                       "totals",
                                       "intervals",
                                       "seconds.t_s",
                                       "seconds.messages",
                                       "seconds.errors",
                                       "tags.one",
                                       "tags.another",
                                       "samples[0].t_s",
                                       "capacity.sentence",
                                       "capacity.unit",
                                       "capacity.beside[0].program",
                                       "capacity.beside[0].unit",
                                       "capacity.search_goals",
                                       "capacity.search_goals[0].promise",
                                       "capacity.search_goals[0].metric",
                                       "capacity.result",
                                       "capacity.result.end",
                                       "capacity.result.goals",
                                       "capacity.result.goals[0].end",
                                       "capacity.result.goals[0].limited_by",
                                       "capacity.result.confirmation[0].what",
                                       "capacity.result.confirmation[0].untried",
                                       "capacity.result.ceiling_by",
                                       "capacity.trials[0].step",
                                       "capacity.trials[0].validity",
                                       "capacity.trials[0].goals[0].shown",
                                       "capacity.trials[0].goals[0].measured",
                                       "capacity.trials[0].goals[0].reason"};
    CHECK(stats::test::check_members(stats::record_text(stats::test::filled_record(1, 100)), needed,
                                     refusal) > 400);
}

TEST_CASE("record: what is wrong is said in one line") {
    struct row {
        std::string text;
        std::string wanted;
        const char* reason;
    };
    const row rows[] = {
        {"", "is empty", "an empty file"},
        {" \r\n\t", "is empty", "blanks only"},
        {"{", "not a run record", "cut short"},
        {"14:18,14752,80491,0,1473,0\n", "not a run record", "a log instead of a record"},
        {"[]", "not a JSON object", "another JSON value"},
        {"{}", "names no schema", "any JSON"},
        {R"({"schema": "postal-record/2"})", "postal-record/1", "a schema of the future"},
        {R"({"schema": 7})", "names no schema", "a number as schema"},
        {R"({"schema": "postal-record/1", "totals": {}})", "program is missing", "no program"},
        {R"({"schema": "postal-record/1", "program": "x"})", "totals is missing", "no totals"},
        {with(R"("seed": -1)"), "seed is not a whole number", "a negative count"},
        {with(R"("seed": 1.5)"), "seed is not a whole number", "half a message"},
        {with(R"("seed": 1e300)"), "seed is not a whole number", "more than fits"},
        {with(R"("warmup_s": -1)"), "warmup_s is not a number, 0 or more", "less than nothing"},
        {with(R"("duration_s": 1e999)"), "not a run record", "a number that no double holds"},
        {with(R"("argv": [1])"), "argv[0] is not a text", "a number among texts"},
        {with(R"("intervals": [{"t_s": 60}, 7])"), "intervals[1] is not an object", "with index"},
        {with(R"("intervals": [{"t_s": 60}, {"t_s": 30}])"), "intervals[1].t_s",
         "time that runs backwards"},
        {with(R"("latency_us": {"message": {"buckets": "loglin64:x"}})"),
         "latency_us.message.buckets is not a histogram", "buckets that are none"},
        {"{\"schema\": \"postal-record/1\", \"program\": \"\xff\"}", "not a run record",
         "octets that are not UTF-8"},
        {std::string(200000, '['), "not a run record", "nested as deep as can be"},
    };
    for (const row& each : rows) {
        INFO(each.reason);
        CHECK_THAT(refusal(each.text), Catch::Contains(each.wanted));
    }
}

TEST_CASE("record: what stands for what older records lack") {
    const auto read = stats::parse_record(with(
        R"("future": {"a": [1]}, "duration_s": 60, "warmup_s": 10, "cap": {"asked_per_s": null},
               "generator": {"limited": true}, "agents": {"exits": {"0": 2, "75": 7}},
               "intervals": [{"t_s": 30, "asked": 10, "messages": 0, "message_p50_us": 0},
                             {"t_s": 60}])"));
    REQUIRE(read.has_value());
    CHECK(read->totals.messages == 5);
    CHECK_FALSE(read->seed);
    CHECK_FALSE(read->rate.mean);
    CHECK(read->host.cpus == 0);
    CHECK(read->measured_s == 50);
    CHECK_FALSE(read->cap);
    CHECK(read->generator.verdict == stats::generator_verdict::limit);
    CHECK_FALSE(read->generator.worker_busy);
    CHECK(read->agents->exits.front().name == "75");  // the most frequent
    REQUIRE(read->intervals.size() == 2);
    CHECK_FALSE(read->intervals[0].message_p50);  // that of nothing is not 0
    CHECK(read->intervals[0].a_minute(read->intervals[0].asked) == 20);
    CHECK(read->intervals[1].start_s == 30);
}

TEST_CASE("record: phases come in the order of the protocol, unknown ones last") {
    const auto read = stats::parse_record(
        with(R"("latency_us": {"zeta": {}, "message": {}, "connect": {}, "tls": null,
                               "envelope": {}, "ehlo": {}})"));
    REQUIRE(read.has_value());
    std::string order;
    for (const auto& phase : read->phases)
        order += phase.name + " ";
    CHECK(order == "connect ehlo envelope message zeta ");
}

TEST_CASE("record: the time of a run's start is read back") {
    CHECK(stats::seconds_of_timestamp("2026-01-01T00:00:00.000Z") == 1767225600.0);
    CHECK(stats::seconds_of_timestamp("2026-01-01T00:00:20.500Z") == 1767225620.5);
    CHECK(stats::seconds_of_timestamp("1970-01-01T00:00:00Z") == 0.0);
    for (const char* text : {"", "today", "2026-01-01T00:00:00", "2026-01-01T00:00:00.000",
                             "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00.5xZ"}) {
        INFO(text);
        CHECK_FALSE(stats::seconds_of_timestamp(text).has_value());
    }
}

TEST_CASE("record: more phases than any program has") {
    const auto phases = [](int count) {
        std::string all = "\"latency_us\": {";
        for (int i = 0; i < count; ++i)
            all += fmt::format("{}\"p{}\": {{\"count\": 0}}", i > 0 ? "," : "", i);
        return with(all + "}");
    };
    CHECK(refusal(phases(1000)).empty());
    CHECK(refusal(phases(1001)) == "latency_us is not an object of at most 1000 phases");
}
