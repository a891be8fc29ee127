// SPDX-License-Identifier: GPL-3.0-or-later
// experiment/record.hpp and all that is printed of an experiment, whose runs all had much the same
// load: a record may be anything; what is read and written is read again as the same, and every
// printer makes it harmless.
#include "experiment/analysis.hpp"
#include "postal-report/experiment.hpp"

#include "printed.hpp"

namespace {

using namespace postal;

stats::run_record load_of(const experiment::planned_run& at) {
    stats::run_record made;
    made.program = "postal";
    made.started = "2026-01-01T00:00:00.000Z";
    made.duration_s = 10;
    made.totals.messages = 1000;
    for (int second = 0; second < 4; ++second) {
        auto& one = made.intervals.emplace_back();
        one.start_s = second;
        one.end_s = second + 1;
        one.warmup = second == 0;
        one.messages = 250 + at.block % 7 + 20 * (at.variant % 5);
    }
    return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    auto read = experiment::parse_experiment_record(fuzz::text_of(data, size));
    if (!read) {
        fuzz::require(!read.error().message.empty());
        return 0;
    }
    experiment::results of{.folder = "fuzz", .record = std::move(*read)};
    for (const experiment::recorded_run& one : of.record.runs)
        of.runs.push_back(experiment::result_of(
            one, std::vector(of.record.programs.size(), load_of(one.at)), {}, of.record));
    const experiment::analysis found = experiment::analyse(of);

    const std::string text = experiment::record_text(of.record, found);
    const auto again = experiment::parse_experiment_record(text);
    fuzz::require(again && experiment::record_text(*again, found) == text);

    fuzz::require_printable(
        [&](report::medium kind) { return report::document_of(of, found, {}, kind); },
        report::sheet_of(of));
    return 0;
}
