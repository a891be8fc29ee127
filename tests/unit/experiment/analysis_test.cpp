// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that count and blocks that do not, and the figures that follow from the runs' records.
#include "experiment/analysis.hpp"

#include "experiment/capacity.hpp"
#include "experiment/findings.hpp"
#include "made_up.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <nlohmann/json.hpp>

#include <functional>

using namespace postal;
using namespace postal::experiment;
using namespace std::chrono_literals;

namespace {

constexpr auto at(metric one) {
    return static_cast<std::size_t>(one);
}

// A second's processors, and a device that writes 50 KiB and flushes five times in each; whatever
// happened within the first two seconds was ten times as much.
cost_log even_costs() {
    const std::chrono::steady_clock::time_point begun{1000s};
    cost_log log({"/dev/loop0"}, begun, std::chrono::system_clock::time_point{1'767'225'600s});
    for (int second = 0; second <= 10; ++second) {
        const double s = second < 2 ? second * 10 : second + 18;
        testbed::system_sample one;
        one.time = begun + std::chrono::seconds{second};
        one.machine.processors = os::processor_times{s, s, 0, 0, 900};
        os::device_counts disk;
        disk.sectors_written = static_cast<std::uint64_t>(100 * s);
        disk.flushes = static_cast<std::uint64_t>(5 * s);
        one.devices = {disk};
        log.add(one);
    }
    return log;
}

measured_run result(const stats::run_record& load, std::optional<cost_log> log = {}) {
    recorded_run run;
    run.devices = {"/dev/loop0"};
    return result_of(run, {load}, {.log = std::move(log)},
                     test::made_up_record({"a"}, metric::messages));
}

}  // namespace

TEST_CASE("analysis: a run's values are those of the intervals that count, and so are its costs") {
    auto load = test::recorded_load(50);
    auto& late = load.intervals.emplace_back();
    late.start_s = 10;
    late.end_s = 12;
    late.messages = 7;
    late.draining = true;
    const auto one = result(load, even_costs());
    REQUIRE(one.voids.empty());
    REQUIRE(one.loads.size() == 1);
    CHECK(one.loads[0].messages == 400);
    CHECK(one.loads[0].measured_s == Approx(8));
    CHECK(one.loads[0].values[at(metric::messages)] == Approx(50));
    REQUIRE(one.spent.has_value());
    // The warm-up ends within the second interval, which is left out as a whole.
    CHECK(one.spent->window_s == Approx(8));
    CHECK(*one.loads[0].values[at(metric::cpu)] == Approx(2 * 8 * 1e3 / 400));
    CHECK(*one.loads[0].values[at(metric::written)] == Approx(50 * 8 / 400.0));
    CHECK(*one.loads[0].values[at(metric::flushes)] == Approx(5 * 8 / 400.0));
    CHECK_FALSE(one.loads[0].values[at(metric::p50)].has_value());
}

TEST_CASE(
    "analysis: a percentile among what was not accepted is never, and one of too few is none") {
    auto load = test::recorded_load(50);
    stats::phase_figures& message = load.phases.emplace_back();
    message.name = "message";
    message.p50 = 2ms;
    message.at_least.emplace().p99 = 900ms;
    const auto values = result(load).loads.at(0).values;
    CHECK(values[at(metric::p50)] == 2000.0);
    CHECK(is_never(values[at(metric::p99)]));
    load.phases[0].at_least->p99.reset();
    CHECK_FALSE(result(load).loads.at(0).values[at(metric::p99)].has_value());
    load.phases[0].at_least.reset();
    CHECK_FALSE(result(load).loads.at(0).values[at(metric::p99)].has_value());
}

TEST_CASE("analysis: a search's value is the rate that it found") {
    const auto of = test::made_up_record({"a"}, metric::capacity);
    const auto found_in = [&](const stats::run_record& load) {
        return result_of({}, {load}, {}, of);
    };
    auto load = test::recorded_search(120, {"p99(message)<1s", "errors<0.1%"});
    load.search->result.goals[1].rate = 60;
    load.search->result.limiting = 1;
    // It ends when it has found, and its trials go beyond what the server and the generator can do.
    load.duration_s = 1;
    load.totals.rejected = 100;
    load.generator.verdict = stats::generator_verdict::limit;
    const auto one = found_in(load);
    CHECK(one.voids.empty());
    CHECK(one.loads[0].values[at(metric::capacity)] == 60.0);
    for (const metric other : {metric::messages, metric::p50, metric::p99})
        CHECK_FALSE(one.loads[0].values[at(other)].has_value());

    using capacity::search_end;
    for (const search_end end :
         {search_end::found, search_end::not_closer, search_end::at_least, search_end::unstable,
          search_end::doomed, search_end::out_of_time, search_end::generator_limited}) {
        load.search->result.end = end;
        load.search->sentence = "what it says";
        const bool counts = end == search_end::found || end == search_end::not_closer;
        const auto run = found_in(load);
        INFO(name_of(end));
        CHECK(run.loads[0].values[at(metric::capacity)].has_value() == counts);
        if (counts) {
            CHECK(run.voids.empty());
            continue;
        }
        const std::string said = "postal: its search ended without a rate: what it says; ";
        CHECK(run.voids.starts_with(said));
        CHECK(run.voids.size() > said.size());  // with what would help
        if (end == search_end::unstable)
            CHECK_THAT(run.voids, Catch::Contains("; a longer goal_set, more accounts or a store "
                                                  "that is filled first may help"));
    }
    load.search->result.end = search_end::found;
    load.search->result.limiting = 2;
    CHECK_FALSE(found_in(load).voids.empty());
    CHECK(found_in(test::recorded_load(50)).voids == "postal: its record has no search of a rate");
}

TEST_CASE("analysis: beside a search other programs have no value, and void nothing") {
    auto of = test::made_up_record({"a"}, metric::capacity);
    of.programs = {"reading", "delivery"};
    of.verdict.program = 1;
    auto search = test::recorded_search(120, {"p99(message)<1s", "p99(session)<1s"});
    search.search->beside = {{"rabid", "visits", 0.2, {}}};
    search.search->goals[1].flow = 1;
    const auto run = result_of({}, {test::recorded_load(50), search}, {}, of);
    CHECK(run.voids.empty());
    CHECK(run.loads[1].values[at(metric::capacity)] == 120.0);
    for (const metric each : {metric::messages, metric::p50, metric::p99, metric::capacity})
        CHECK_FALSE(run.loads[0].values[at(each)].has_value());
    CHECK(promises_of(results{.record = of, .runs = {run}}) ==
          "p99(message)<1s and p99(session)<1s of rabid");

    search.search->result.end = capacity::search_end::partner_lost;
    search.search->sentence = "what it says";
    CHECK(result_of({}, {test::recorded_load(50), search}, {}, of).voids ==
          "delivery: its search ended without a rate: what it says");
}

TEST_CASE("analysis: costs that are not known are not 0") {
    const auto load = test::recorded_load(50);
    const auto values = result(load).loads.at(0).values;
    CHECK(values[at(metric::messages)].has_value());
    for (const metric one : {metric::cpu, metric::written, metric::flushes})
        CHECK_FALSE(values[at(one)].has_value());
    // Of another moment.
    auto later = load;
    later.started = "2026-01-01T05:00:00.000Z";
    CHECK_FALSE(result(later, even_costs()).spent.has_value());
    later.started = "yesterday";
    CHECK_FALSE(result(later, even_costs()).spent.has_value());
}

TEST_CASE("analysis: why a block is voided") {
    struct row {
        std::function<void(recorded_run&, stats::run_record&)> harm;
        std::string wanted;
    };
    const std::vector<row> table{
        {[](auto&, auto&) {}, ""},
        {[](auto& run, auto&) {
             run.end = run_end::failed;
             run.reason = "mail.toml:7: dovecot ended with status 9";
         },
         "mail.toml:7: dovecot ended with status 9"},
        {[](auto&, auto& load) { load.intervals.clear(); }, "postal: no message came through"},
        {[](auto&, auto& load) { load.generator.verdict = stats::generator_verdict::limit; },
         "postal: the load generator was the limit"},
        {[](auto&, auto& load) { load.generator.verdict = stats::generator_verdict::machine_full; },
         ""},
        {[](auto&, auto& load) { load.totals.rejected = 4; }, ""},
        {[](auto&, auto& load) { load.totals.rejected = 5; },
         "postal: 1.2 % errors, more than 1.0 %"},
        {[](auto&, auto& load) { load.totals.deferred = 5; },
         "postal: 1.2 % errors, more than 1.0 %"},
        {[](auto&, auto& load) { load.totals.failed = 5; },
         "postal: 1.2 % errors, more than 1.0 %"},
        {[](auto&, auto& load) { load.totals.in_doubt = 5; },
         "postal: 1.2 % errors, more than 1.0 %"},
        {[](auto&, auto& load) { load.totals.not_started = 400; },
         "postal: 50.0 % errors, more than 1.0 %"},
        {[](auto&, auto& load) { load.totals.error_events = 5; },
         "postal: 1.2 % errors, more than 1.0 %"},
        {[](auto&, auto& load) { load.duration_s = 9.9; }, ""},
        {[](auto&, auto& load) { load.duration_s = 9.7; }, "postal: ended after 9.7 s of 10.0 s"},
    };
    const auto of = test::made_up_record({"a"}, metric::messages);
    for (const auto& [harm, wanted] : table) {
        recorded_run run;
        auto load = test::recorded_load(50);
        harm(run, load);
        CHECK(result_of(run, {load}, {}, of).voids == wanted);
    }
    CHECK(result_of({}, {}, {}, of).voids == "its records are missing or cannot be read");
    CHECK(result_of({}, {test::recorded_load(5), test::recorded_load(5)}, {}, of).voids ==
          "its records are missing or cannot be read");
}

TEST_CASE("analysis: a block with one bad run counts for none of its variants") {
    auto of = test::made_up(metric::messages, 1.1, 5);
    of.runs[4].voids = "because";
    const auto found = analyse(of);
    REQUIRE(found.blocks.size() == 5);
    CHECK(found.blocks[2].voided == "a: because");
    CHECK(found.blocks[3].voided.empty());
    CHECK(found.voided() == 1);
    CHECK(found.verdict().compared.comparisons.at(0).blocks == 4);
    CHECK(found.verdict().compared.comparisons.at(0).voided == 1);
    CHECK(*found.verdict().typical.at(0) == Approx(1));
    // A block that is not finished counts for whom it has.
    of.runs.pop_back();
    CHECK(analyse(of).verdict().compared.comparisons.at(0).blocks == 3);
    CHECK(analyse(of).verdict().compared.comparisons.at(0).left_out == 0);
}

TEST_CASE("analysis: the other runs of a voided block have no part in drift and costs either") {
    auto of = test::made_up(metric::messages, 1.1, 6);
    for (measured_run& run : of.runs) {
        run.records = {test::recorded_load(50)};
        run.spent.emplace().user_s = 2;
    }
    of.runs[5].voids = "because";
    of.runs[4].loads[0].values[0] = 1000;
    of.runs[4].records[0] = test::recorded_load(5000);
    of.runs[4].spent->user_s = 2000;
    const auto found = analyse(of);
    for (std::size_t i = 0; i < of.runs.size(); ++i)
        CHECK(is_counted(of.runs[i], found) == (i != 4 && i != 5));
    REQUIRE(found.drift.has_value());
    CHECK(std::abs(found.drift->change) < 0.01);
    const auto costs = cost_table(of, found);
    REQUIRE(costs.rows.size() == 1);
    CHECK(costs.rows[0] == std::vector<std::string>{"processors, user", "2 ms", "2 ms"});
    // Where no block counts there is no cost.
    for (measured_run& run : of.runs)
        run.voids = run.run.at.variant == 0 ? "because" : "";
    CHECK(cost_table(of, analyse(of)).rows.empty());
}

TEST_CASE("analysis: typical values are geometric means, or arithmetic ones where there is a 0") {
    const auto of = test::made_up({"a", "b"}, metric::flushes, {{1, 0}, {4, 2}});
    const auto found = analyse(of);
    CHECK(*found.verdict().typical.at(0) == Approx(2));
    CHECK(*found.verdict().typical.at(1) == Approx(1));
    CHECK(found.verdict().compared.comparisons.at(0).blocks == 1);
    CHECK(found.verdict().compared.comparisons.at(0).left_out == 1);
}

TEST_CASE("analysis: what a folder holds, where runs were begun again") {
    const test::folder here;
    auto record = test::made_up_record({"a", "b"}, metric::messages);
    record.programs = {"postal", "rabid"};
    const std::string costs = to_json(even_costs());
    const auto add = [&](std::uint64_t block, std::size_t variant, run_end end) {
        recorded_run& run = record.runs.emplace_back();
        run.at = {block, variant, variant};
        run.end = end;
        run.reason = end == run_end::failed ? "no luck" : "";
    };
    add(1, 0, run_end::interrupted);
    add(1, 0, run_end::complete);
    add(1, 1, run_end::interrupted);
    add(1, 1, run_end::failed);
    add(2, 1, run_end::interrupted);
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(here / name, std::ios::binary) << text;
        return kept_file{"", name, sha256_of(text)};
    };
    const auto load = [&](const std::string& program, int messages) {
        auto kept = write(
            program + ".json",
            fmt::format(
                R"({{"schema":"postal-record/1","program":"{}","duration_s":10,"totals":{{"messages":{}}},)"
                R"("intervals":[{{"start_s":0,"t_s":10,"messages":{}}}],"generator":{{"verdict":"none"}}}})",
                program, messages, messages));
        kept.name = program;
        return kept;
    };
    // In the order in which they ended.
    record.runs[1].loads = {load("rabid", 40), load("postal", 80)};
    record.runs[1].costs = write("costs.json", costs);
    write("experiment.json", record_text(record, analyse(results{.record = record})));
    const auto read = read_results(here.path());
    REQUIRE(read.has_value());
    CHECK(read->damaged.empty());
    REQUIRE(read->runs.size() == 2);
    CHECK(read->runs[0].run.end == run_end::complete);
    REQUIRE(read->runs[0].loads.size() == 2);
    CHECK(read->runs[0].loads[0].messages == 80);
    CHECK(read->runs[0].loads[1].messages == 40);
    CHECK(read->runs[0].log.has_value());
    CHECK(read->runs[1].voids == "no luck");
    CHECK(analyse(*read).blocks.size() == 1);

    // Each run wrote its own files.
    auto shared = record;
    for (std::uint64_t block = 3; block < 1000; ++block) {
        shared.runs.push_back(record.runs[1]);
        shared.runs.back().at.block = block;
    }
    std::atomic<int> reads = 0;
    write("experiment.json", record_text(shared, analyse(results{.record = shared})));
    const auto once = read_results(here.path(), [&](const std::string& path, std::uint64_t most) {
        ++reads;
        return from_disk()(path, most);
    });
    write("experiment.json", record_text(record, analyse(results{.record = record})));
    REQUIRE(once.has_value());
    CHECK(reads == 4);
    CHECK(once->runs.size() == 999);
    REQUIRE(once->damaged.size() == 3 * 997);
    CHECK_THAT(once->damaged[0], Catch::EndsWith("/rabid.json: is named by two runs"));
    CHECK(once->runs.back().voids == "its records are missing or cannot be read");

    std::ofstream(here / "postal.json", std::ios::app) << " ";
    std::filesystem::remove(here / "rabid.json");
    std::ofstream(here / "costs.json") << "{}";
    const auto harmed = read_results(here.path());
    REQUIRE(harmed.has_value());
    REQUIRE(harmed->damaged.size() == 4);
    CHECK_THAT(harmed->damaged[0], Catch::EndsWith("/postal.json: is not what the run wrote"));
    CHECK_THAT(harmed->damaged[1], Catch::Contains("/rabid.json: "));
    CHECK_THAT(harmed->damaged[2], Catch::EndsWith("/costs.json: is not what the run wrote"));
    CHECK_THAT(harmed->damaged[3], Catch::Contains("/costs.json: "));
    CHECK(harmed->runs.at(0).voids == "its records are missing or cannot be read");
    CHECK_FALSE(read_results(here / "none").has_value());
    CHECK_FALSE(is_results_folder(here / "none"));
    CHECK(is_results_folder(here.path()));
}
