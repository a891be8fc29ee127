// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/verify.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/analysis.hpp"
#include "experiment/findings.hpp"
#include "experiment/plan.hpp"
#include "stats/foreign_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace postal::experiment {
namespace {

// Nothing where it has none.
stats::json analysis_in(std::string_view text) {
    const auto parsed = stats::parse_foreign(text);
    return parsed && parsed->is_object() ? parsed->value("analysis", stats::json()) : stats::json();
}

// The order of the runs follows from the seed, and each block that was begun is whole: but the last
// one of an experiment that was interrupted. One that says that it did all blocks has them.
void check_order(const results& of, std::vector<std::string>& found) {
    const experiment_record& record = of.record;
    const bool all_blocks = record.end == all_blocks_done;
    if (!of.runs.empty() && of.runs.back().run.at.block > record.blocks)
        found.push_back(fmt::format("block {} is there, and {} were planned",
                                    of.runs.back().run.at.block, record.blocks));
    const bool last_is_whole =
        all_blocks || record.end == enough_for_width || record.end == narrow_enough;
    std::size_t at = 0;
    for (std::uint64_t block = 1; at < of.runs.size() || (all_blocks && block <= record.blocks);
         ++block) {
        const auto planned = runs_of_block(record.seed, block, record.variants.size());
        bool failed = false;
        for (const planned_run& one : planned) {
            const bool is_there = at < of.runs.size() && of.runs[at].run.at == one;
            if (is_there) failed = failed || of.runs[at++].run.end == run_end::failed;
            // After a run that failed, the rest of its block is left out.
            if (is_there || failed || (!last_is_whole && at == of.runs.size())) continue;
            found.push_back(fmt::format("block {}: the run of {} is missing, or not in its place",
                                        block, record.variants[one.variant].name));
            return;
        }
    }
}

// Nobody chooses among several: a run is done again only after an interruption.
void check_repeated(const experiment_record& record, std::vector<std::string>& found) {
    std::set<std::pair<std::uint64_t, std::size_t>> done;
    for (const recorded_run& one : record.runs)
        if (one.end != run_end::interrupted && !done.insert({one.at.block, one.at.variant}).second)
            found.push_back(fmt::format("block {}: the run of {} was done again", one.at.block,
                                        record.variants[one.at.variant].name));
}

// Rules of verdicts differ between versions.
std::string differing_verdicts(const std::string& version) {
    const std::string what = "the verdicts in the record are not those that follow from the runs";
    return version == base::build_version ? what
                                          : fmt::format("{} by the rules of {}; it was made by {}",
                                                        what, base::build_version, version);
}

}  // namespace

base::expected<verification> verify(const std::string& folder) {
    return verify(folder, from_disk());
}

base::expected<verification> verify(const std::string& folder, const file_source& from) {
    const auto read = read_results(folder, from);
    if (!read) return read.error();
    const auto analysed = analyse(*read);
    verification to;
    to.shown = document_of(*read, analysed, report::medium::text);
    for (const std::string& one : read->damaged)
        to.found.push_back(one);
    check_order(*read, to.found);
    check_repeated(read->record, to.found);
    const auto text = from(folder + "/experiment.json", largest_record);
    if (!text) return text.error();
    if (!stats::is_same(analysis_in(*text), analysis_in(record_text(read->record, analysed))))
        (read->record.version == base::build_version ? to.found : to.differs)
            .push_back(differing_verdicts(read->record.version));
    for (const recorded_run& one : read->record.runs) {
        for (const kept_file& load : one.loads)
            to.named.insert(load.path);
        if (one.costs) to.named.insert(one.costs->path);
        if (one.announced) to.named.insert(one.announced->path);
    }
    for (const measured_run& one : read->runs)
        to.held += one.run.loads.size() + (one.run.costs ? 1 : 0) + (one.run.announced ? 1 : 0);
    for (const recorded_run& one : read->record.runs) {
        if (one.end == run_end::complete) continue;
        to.noted.push_back(
            fmt::format("{}: {}", one.folder, one.reason.empty() ? "interrupted" : one.reason));
    }
    return {boost::system::in_place_value, std::move(to)};
}

}  // namespace postal::experiment
