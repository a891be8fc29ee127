// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment's page draws: courses over time, latencies, ratios, which variants, and that
// no name breaks out.
#include "postal-report/experiment_charts.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "../hostile_text.hpp"
#include "experiment/findings.hpp"
#include "postal-report/experiment.hpp"
#include "printed.hpp"

using namespace postal;
using namespace std::chrono_literals;
using json = nlohmann::json;

namespace {

constexpr int warmup_s = 2;
const std::string began = "2026-01-01T00:00:03.000Z";

experiment::experiment_record record_of(std::vector<std::string> variants) {
    experiment::experiment_record of;
    of.title = "sample";
    of.programs = {"delivery"};
    of.warmup_s = warmup_s;
    of.host.name = "host";
    for (std::string& name : variants)
        of.variants.push_back({std::move(name), {}, {}});
    return of;
}

// `per_second` messages in each second, of which each took `took`.
stats::run_record run_of(int seconds, std::uint64_t per_second, std::chrono::milliseconds took) {
    stats::run_record to;
    to.program = "postal";
    to.started = began;
    to.duration_s = seconds;
    to.warmup_s = warmup_s;
    to.measured_s = seconds - warmup_s;
    for (int second = 0; second < seconds; ++second) {
        stats::interval_row& one = to.intervals.emplace_back();
        one.start_s = second;
        one.end_s = second + 1;
        one.messages = per_second;
        one.warmup = second < warmup_s;
    }
    to.totals.messages = per_second * static_cast<std::uint64_t>(seconds - warmup_s);
    stats::phase_figures& message = to.phases.emplace_back();
    message.name = "message";
    message.distribution.emplace();
    for (std::uint64_t i = 0; i < to.totals.messages; ++i)
        message.distribution->record(took);
    return to;
}

// From three seconds before the load on: half a processor, 10 flushes a second.
experiment::cost_log even_costs(int seconds) {
    const std::chrono::steady_clock::time_point begun{1000s};
    experiment::cost_log log({"loop7"}, begun,
                             std::chrono::system_clock::time_point{1'767'225'600s});
    for (int at = 0; at <= seconds + 6; ++at) {
        testbed::system_sample sample;
        sample.time = begun + std::chrono::seconds{at};
        sample.machine.processors = os::processor_times{at / 2.0, 0, 0, 0, 0};
        os::device_counts disk;
        disk.flushes = static_cast<std::uint64_t>(at) * 10;
        disk.busy_ms = static_cast<std::uint64_t>(at) * 250;
        sample.devices = {disk};
        log.add(sample);
    }
    return log;
}

void add_run(experiment::results& to, std::uint64_t block, std::size_t variant,
             stats::run_record record) {
    experiment::recorded_run run;
    run.at = {block, variant, variant};
    run.devices = {"loop7"};
    const int seconds = static_cast<int>(record.duration_s);
    std::vector<stats::run_record> records;
    records.push_back(std::move(record));
    to.runs.push_back(
        experiment::result_of(run, std::move(records), {.log = even_costs(seconds)}, to.record));
}

json data_of(const experiment::results& of) {
    return json::parse(report::charts_of(of, experiment::analyse(of)).data);
}

// As the data has it.
json point(int start, int end, int together, bool warmup) {
    return {{"start", start}, {"end", end}, {"together", together}, {"warmup", warmup}};
}

}  // namespace

TEST_CASE("experiment charts: a variant's course is the mean over its runs that count") {
    experiment::results of{.record = record_of({"default", "other"})};
    add_run(of, 1, 0, run_of(6, 100, 2ms));
    add_run(of, 1, 1, run_of(6, 150, 2ms));
    add_run(of, 2, 0, run_of(6, 120, 8ms));
    add_run(of, 2, 1, run_of(6, 150, 2ms));
    add_run(of, 3, 0, run_of(6, 0, 2ms));  // voids its block
    add_run(of, 3, 1, run_of(6, 150, 2ms));
    const json data = data_of(of);
    const json& first = data["variants"][0];
    REQUIRE(first["times"].size() == 6);
    CHECK(first["times"][1] == point(1, 2, 1, true));
    CHECK(first["times"][2] == point(2, 3, 1, false));
    for (const json& rate : first["rate"])
        CHECK(rate == 6600);
    CHECK(first["runs"] ==
          json({{6000, 6000, 6000, 6000, 6000, 6000}, {7200, 7200, 7200, 7200, 7200, 7200}}));
    // On the log's clock the load begins at 3 s.
    CHECK(first["user"] == json({0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
    CHECK(first["flushes"][5] == 10);
    CHECK(first["busy"][5] == 25);
    CHECK(first["writes"][5] == 0);
    // 400 of 2 ms and 480 of 8 ms: the median is among the latter.
    for (const json& point : first["tail"])
        CHECK(point[1].get<double>() == Approx(point[0] < 1.83 ? 2000 : 8000).epsilon(0.01));
    CHECK(first["tail"].back()[0] == 880);

    CHECK(data["ratios"][0]["blocks"] ==
          json({{{"block", 1}, {"ratio", 1.5}, {"voided", false}},
                {{"block", 2}, {"ratio", 1.25}, {"voided", false}}}));
    CHECK(data["ratios"][0]["mean"].get<double>() == Approx(std::sqrt(1.5 * 1.25)));
    CHECK(data["warmup_s"] == 2);
    CHECK(data["longest_s"] == 6);

    const auto charts = report::charts_of(of, experiment::analyse(of));
    std::vector<std::string> costs;
    for (const report::quantity* one : charts.costs)
        costs.emplace_back(one->key);
    CHECK(costs ==
          std::vector<std::string>{"user", "system", "iowait", "writes", "flushes", "busy"});
    // Of a device that the log does not have there is no chart, and no 0.
    for (experiment::measured_run& one : of.runs)
        one.run.devices = {"loop8"};
    CHECK(data_of(of)["variants"][0]["flushes"][5].is_null());
    CHECK(report::charts_of(of, experiment::analyse(of)).costs.size() == 3);
}

TEST_CASE("experiment charts: neighbours are put together, the warm-up's with their own kind") {
    experiment::results of{.record = record_of({"default"})};
    add_run(of, 1, 0, run_of(901, 10, 2ms));
    const auto charts = report::charts_of(of, experiment::analyse(of));
    CHECK(charts.together == 4);
    const json times = json::parse(charts.data)["variants"][0]["times"];
    CHECK(times[0] == point(0, 2, 2, true));
    CHECK(times[1] == point(2, 6, 4, false));
    std::size_t together = 0;
    for (const json& each : times)
        together += each["together"].get<std::size_t>();
    CHECK(together == 901);
    CHECK(times.size() <= 300);
    CHECK(times.back()["end"] == 901);
    CHECK_FALSE(charts.runs);  // one run is its own mean
}

TEST_CASE("experiment charts: of many variants the first is drawn and those that differ most") {
    std::vector<std::string> names;
    for (int i = 0; i < 30; ++i)
        names.push_back(fmt::format("v{}", i));
    experiment::results of{.record = record_of(names)};
    for (std::size_t variant = 0; variant < names.size(); ++variant) {
        // The odd ones differ, the later the more, to both sides.
        const std::uint64_t rate = variant % 2 == 0   ? 100
                                   : variant % 4 == 1 ? 100 + 2 * variant
                                                      : 100 - 2 * variant;
        add_run(of, 1, variant, run_of(5, rate, 2ms));
    }
    const auto charts = report::charts_of(of, experiment::analyse(of));
    CHECK(charts.drawn == std::vector<std::size_t>{0, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29});
    CHECK(charts.compared == 29);
    CHECK(json::parse(charts.data)["variants"].size() == report::most_drawn);
}

TEST_CASE("experiment charts: without runs there is nothing to draw") {
    const experiment::results of{.record = record_of({"default", "other"})};
    const auto charts = report::charts_of(of, experiment::analyse(of));
    CHECK_FALSE(charts.rates);
    CHECK_FALSE(charts.latencies);
    CHECK(charts.costs.empty());
    CHECK(json::parse(charts.data)["ratios"][0]["mean"].is_null());
}

TEST_CASE("experiment page: names stay within their elements") {
    const std::string& attack = test::hostile_text;
    experiment::results of{.record = record_of({"default", attack})};
    of.record.host.name = attack;
    of.record.end = attack;
    of.record.title = of.record.file = of.record.text = attack;
    of.record.programs = {attack};
    of.damaged = {attack};
    add_run(of, 1, 0, run_of(5, 100, 2ms));
    add_run(of, 1, 1, run_of(5, 100, 2ms));
    const auto found = experiment::analyse(of);
    const test::printed printed =
        test::printed_of([&](report::medium wanted) { return document_of(of, found, {}, wanted); },
                         report::sheet_of(of));
    const std::string& page = printed.page;
    CHECK(test::harm_in_page(page) == "");
    CHECK(test::harm_in_page(printed.markdown) == "");
    CHECK(test::harm_in(printed.text) == "");
    CHECK(test::harm_in(printed.csv) == "");
    std::size_t scripts = 0;
    for (auto at = page.find("</script"); at != page.npos; at = page.find("</script", at + 1))
        ++scripts;
    CHECK(scripts == 3);
}
