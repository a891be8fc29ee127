// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments whose runs have two load programs.
#include "experiment/analysis.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace postal;
using namespace postal::experiment;

namespace {

stats::run_record record_of(double messages, stats::generator_verdict generator) {
    stats::run_record one;
    one.duration_s = 10;
    one.measured_s = 10;
    one.totals.messages = static_cast<std::uint64_t>(messages);
    stats::interval_row all;
    all.end_s = 10;
    all.messages = static_cast<std::uint64_t>(messages);
    one.intervals = {all};
    one.generator.verdict = generator;
    return one;
}

// One block of one variant.
results of_two(stats::generator_verdict first, stats::generator_verdict second) {
    results all;
    all.record.duration_s = 10;
    all.record.programs = {"delivery", "reading"};
    all.record.variants = {{.name = "a"}};
    all.record.verdict.program = 1;
    const recorded_run run{.at = {.block = 1, .position = 0, .variant = 0}};
    all.runs = {result_of(run, {record_of(100, first), record_of(70, second)}, {}, all.record)};
    return all;
}

}  // namespace

TEST_CASE("two loads: each has its own values, and the verdict is about the one that is named") {
    using enum stats::generator_verdict;
    const analysis found = analyse(of_two(none, none));
    CHECK(found.voided() == 0);
    CHECK(found.verdict().program == 1);
    CHECK(found.verdict().typical.at(0).value() == Approx(7));
    const auto other = std::find_if(
        found.metrics.begin(), found.metrics.end(),
        [](const metric_result& one) { return one.program == 0 && one.about == metric::messages; });
    REQUIRE(other != found.metrics.end());
    CHECK(other->typical.at(0).value() == Approx(10));
}

TEST_CASE("two loads: a run is counted once, whoever says that the machine was full") {
    using enum stats::generator_verdict;
    CHECK(analyse(of_two(machine_full, machine_full)).machine_full == 1);
    CHECK(analyse(of_two(none, machine_full)).machine_full == 1);
    CHECK(analyse(of_two(none, none)).machine_full == 0);
    const analysis limited = analyse(of_two(none, limit));
    CHECK(limited.limited == 1);
    CHECK(limited.blocks.at(0).voided == "a: reading: the load generator was the limit");
}
