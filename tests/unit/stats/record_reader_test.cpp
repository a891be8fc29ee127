// Reading records: what is taken, what is refused and how it is said.
#include "stats/record_reader.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "stats/record_writer.hpp"

using namespace postal;

namespace {

std::string with(const std::string& members) {
    return R"({"schema": "postal-record/1", "program": "postal", "totals": {"messages": 5})" +
           (members.empty() ? "" : ", " + members) + "}";
}

}  // namespace

TEST_CASE("record: a rate that fell over the run has a trend below 0") {
    const auto read = stats::parse_record(
        with(R"("rate": {"messages_per_minute": {"mean": 5, "intervals": 25, "trend": -0.2306}})"));
    REQUIRE(read.has_value());
    CHECK(read->rate.trend == -0.2306);
}

TEST_CASE("record: agents, most frequent end first, connections and what the warm-up counted") {
    const auto read = stats::parse_record(with(
        R"("agents": {"started": 9, "cpu_user_s": 1.5, "exits": {"0": 2, "75": 7}},
           "connection_use": {"messages_per_connection": 2.5, "tls_share": null, "most_open": 3},
           "totals_with_warmup": {"messages": 8, "connections": 4},
           "intervals": [{"t_s": 30, "asked": 10, "agents_running": 4}])"));
    REQUIRE(read.has_value());
    REQUIRE(read->agents.has_value());
    CHECK(read->agents->started == 9);
    CHECK(read->agents->exits == stats::named_numbers{{"75", 7}, {"0", 2}});
    REQUIRE(read->connection_use.has_value());
    CHECK(read->connection_use->messages == 2.5);
    CHECK_FALSE(read->connection_use->tls_share.has_value());
    CHECK(read->totals_with_warmup.connections == 4);
    CHECK(read->intervals.front().a_minute(read->intervals.front().asked) == 20);
    CHECK(read->intervals.front().agents_running == 4);
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
        {R"({"schema": 1})", "names no schema", "a schema of the wrong type"},
        {R"({"schema": "postal-record/2"})", "postal-record/1", "a schema of the future"},
        {R"({"schema": "postal-record/1", "totals": {}})", "program is missing", "no program"},
        {R"({"schema": "postal-record/1", "program": "x"})", "totals is missing", "no totals"},
        {R"({"schema": "postal-record/1", "program": 7, "totals": {}})", "program is not a text",
         "a program of the wrong type"},
        {R"({"schema": "postal-record/1", "program": "x", "totals": []})",
         "totals is not an object", "a list for an object"},
        {R"({"schema": "postal-record/1", "program": "x", "totals": {"messages": -1}})",
         "totals.messages is not a whole number", "a negative count"},
        {R"({"schema": "postal-record/1", "program": "x", "totals": {"messages": 1.5}})",
         "totals.messages is not a whole number", "half a message"},
        {R"({"schema": "postal-record/1", "program": "x", "totals": {"bytes": 1e300}})",
         "totals.bytes is not a whole number", "more than fits"},
        {with(R"("duration_s": 1e999)"), "not a run record", "a number that no double holds"},
        {with(R"("duration_s": "60")"), "duration_s is not a number", "a text for a number"},
        {with(R"("rate": {"messages_per_minute": {"trend": "down"}})"),
         "rate.messages_per_minute.trend is not a number", "a text for a number below 0 or above"},
        {with(R"("argv": "postal")"), "argv is not a list", "a text for a list"},
        {with(R"("argv": [1])"), "argv[0] is not a text", "a number among texts"},
        {with(R"("intervals": [{"t_s": 60}, 7])"), "intervals[1] is not an object", "with index"},
        {with(R"("intervals": [{"t_s": 60}, {"t_s": 30}])"), "intervals[1].t_s",
         "time that runs backwards"},
        {with(R"("latency_us": {"message": {"buckets": "loglin64:x"}})"),
         "latency_us.message.buckets is not a histogram", "buckets that are none"},
        {with(R"("agents": {"exits": {"75": "many"}})"), "agents.exits.75 is not a whole number",
         "a text for a count of ends"},
        {with(R"("generator": {"limited": "no"})"), "generator.limited is not true or false",
         "a text for a flag"},
        {"{\"schema\": \"postal-record/1\", \"program\": \"\xff\"}", "not a run record",
         "octets that are not UTF-8"},
        {std::string(200000, '['), "not a run record", "nested as deep as can be"},
    };
    for (const row& each : rows) {
        INFO(each.reason);
        const auto read = stats::parse_record(each.text);
        REQUIRE(read.has_error());
        CHECK_THAT(read.error().message, Catch::Contains(each.wanted));
    }
}

TEST_CASE("record: absent and null members and unknown keys are no failure") {
    const auto read = stats::parse_record(
        with(R"("future": {"a": [1]}, "seed": null, "host": null, "thresholds": null,
               "rate": {"messages_per_minute": {"mean": null, "stddev": null, "ci95": null}},
               "latency_us": {"message": {"count": 0, "p50": null, "buckets": "loglin64:"},
                              "tls": null},
               "intervals": [{"t_s": 60, "messages": 0, "message_p50_us": 0}])"));
    REQUIRE(read.has_value());
    CHECK(read->totals.messages == 5);
    CHECK_FALSE(read->seed);
    CHECK_FALSE(read->rate.mean);
    CHECK_FALSE(read->rate.ci95);
    REQUIRE(read->phases.size() == 1);
    CHECK_FALSE(read->phases[0].p50_us);
    // The percentile of nothing is not 0.
    REQUIRE(read->intervals.size() == 1);
    CHECK_FALSE(read->intervals[0].p50_us);
}

TEST_CASE("record: phases come in the order of the protocol, unknown ones last") {
    const auto read = stats::parse_record(with(
        R"("latency_us": {"zeta": {}, "message": {}, "connect": {}, "envelope": {}, "ehlo": {}})"));
    REQUIRE(read.has_value());
    std::string order;
    for (const auto& phase : read->phases)
        order += phase.name + " ";
    CHECK(order == "connect ehlo envelope message zeta ");
}

TEST_CASE("record: what a run writes is what is read") {
    stats::run_description description;
    description.program = "postal";
    description.version = "1.2.3";
    description.argv = {"postal", "-t", "12"};
    description.seed = 42;
    description.interval = std::chrono::seconds{1};
    description.phases = {"connect", "message", "service"};
    description.message_phase = 1;
    description.options["sessions"] = std::uint64_t{12};
    description.options["threshold"] = std::vector<std::string>{"errors<1%", "rate>1"};
    description.host = {"mx", "Linux", 2, 1024, "of this boot", base::clock_state{true, 12, 500}};
    stats::run_report run{description};
    for (int second = 0; second < 3; ++second) {
        stats::time_slice time_slice{3};
        time_slice.start_s = second;
        time_slice.end_s = second + 1;
        time_slice.closes_interval = true;
        time_slice.counts.started = 10;
        time_slice.counts.messages = 9;
        time_slice.counts.rejected = 1;
        time_slice.counts.bytes = 9000;
        time_slice.counts.errors.add("rcpt", 550, "5.1.1", "no such user");
        time_slice.counts.errors.add("connect", 0, "refused", "connection refused");
        for (int i = 1; i <= 9; ++i) {
            time_slice.counts.latency[1].record(std::chrono::milliseconds{i});
        }
        run.add_time_slice(time_slice);
    }
    run.finish({.duration_s = 3.0,
                .why = "signal",
                .cpu_user_s = 0.5,
                .cpu_system_s = 0.25,
                .max_rss_bytes = 4096,
                .interrupted = stats::interruption{"SIGINT", 2.5, true, false}});
    run.thresholds = {{"p99(message)<1s", 8950.0, "us", true}};

    const auto read = stats::parse_record(stats::record_text(run));
    REQUIRE(read.has_value());
    CHECK(read->program == "postal");
    CHECK(read->argv.size() == 3);
    CHECK(read->seed == 42U);
    CHECK(read->ended == "signal");
    REQUIRE(read->interrupted);
    CHECK(read->interrupted->signal == "SIGINT");
    CHECK(read->interrupted->at_s == 2.5);
    CHECK(read->interrupted->early);
    CHECK_FALSE(read->interrupted->cut_short);
    CHECK(read->measured_s == 3.0);
    CHECK(read->totals.started == 30U);
    CHECK(read->totals.messages == 27);
    CHECK(read->totals.rejected == 3);
    CHECK(read->totals.error_events == 6);
    CHECK(read->rate.mean == 540.0);
    CHECK(read->intervals.size() == 3);
    CHECK(read->intervals[2].start_s == 2.0);
    REQUIRE(read->find_phase("message") != nullptr);
    REQUIRE(read->find_phase("message")->distribution);
    CHECK(read->find_phase("message")->distribution->count() == 27);
    REQUIRE(read->errors.size() == 2);
    const auto& local = read->errors[0].code == 0 ? read->errors[0] : read->errors[1];
    CHECK(local.detail == "refused");
    REQUIRE(read->thresholds.size() == 1);
    CHECK(read->thresholds[0].unit == "us");
    CHECK(read->host.name == "mx");
    CHECK(read->host.boot_id == "of this boot");
    CHECK(read->host.clock == base::clock_state{true, 12, 500});
    REQUIRE(read->options.size() == 2);
    CHECK(read->options[1].second == "errors<1%, rate>1");
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
