// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/verify.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/analysis.hpp"
#include "experiment/findings.hpp"
#include "experiment/plan.hpp"
#include "os/terminal_size.hpp"

#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace postal::compare {
namespace {

using json = nlohmann::ordered_json;

// As far as two machines' mathematics agree.
constexpr double relative_difference = 1e-9;

bool is_same(const json& one, const json& other) {
    if (one.is_number_float() || other.is_number_float()) {
        if (!one.is_number() || !other.is_number()) return false;
        const double a = one.get<double>();
        const double b = other.get<double>();
        return std::abs(a - b) <= relative_difference * std::max(std::abs(a), std::abs(b));
    }
    if (one.type() != other.type() && !(one.is_number() && other.is_number())) return false;
    if (!one.is_structured()) return one == other;
    if (one.size() != other.size()) return false;
    if (one.is_array()) return std::equal(one.begin(), one.end(), other.begin(), is_same);
    return std::all_of(one.items().begin(), one.items().end(), [&](const auto& item) {
        return other.contains(item.key()) && is_same(item.value(), other[item.key()]);
    });
}

json analysis_in(std::string_view text) {
    return json::parse(text).value("analysis", json());
}

// The order of the runs follows from the seed, and each block that was begun is whole: but the last
// one of an experiment that was interrupted. One that says that it did all blocks has them.
void check_order(const experiment::results& of, std::vector<std::string>& found) {
    const experiment::experiment_record& record = of.record;
    const bool all_blocks = record.end == experiment::all_blocks_done;
    if (!of.runs.empty() && of.runs.back().run.at.block > record.blocks)
        found.push_back(fmt::format("block {} is there, and {} were planned",
                                    of.runs.back().run.at.block, record.blocks));
    const bool last_is_whole = all_blocks || record.end == experiment::enough_for_width ||
                               record.end == experiment::narrow_enough;
    std::size_t at = 0;
    for (std::uint64_t block = 1; at < of.runs.size() || (all_blocks && block <= record.blocks);
         ++block) {
        const auto planned = experiment::runs_of_block(record.seed, block, record.variants.size());
        bool failed = false;
        for (const experiment::planned_run& one : planned) {
            const bool is_there = at < of.runs.size() && of.runs[at].run.at == one;
            if (is_there) failed = failed || of.runs[at++].run.end == experiment::run_end::failed;
            // After a run that failed, the rest of its block is left out.
            if (is_there || failed || (!last_is_whole && at == of.runs.size())) continue;
            found.push_back(fmt::format("block {}: the run of {} is missing, or not in its place",
                                        block, record.variants[one.variant].name));
            return;
        }
    }
}

// Nobody chooses among several: a run is done again only after an interruption.
void check_repeated(const experiment::experiment_record& record, std::vector<std::string>& found) {
    std::set<std::pair<std::uint64_t, std::size_t>> done;
    for (const experiment::recorded_run& one : record.runs)
        if (one.end != experiment::run_end::interrupted &&
            !done.insert({one.at.block, one.at.variant}).second)
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
    const auto read = experiment::read_results(folder);
    if (!read) return read.error();
    const auto analysed = experiment::analyse(*read);
    verification to;
    to.text = report::render_text(document_of(*read, analysed, report::medium::text),
                                  os::terminal_columns(STDOUT_FILENO));
    for (const std::string& one : read->damaged)
        to.found.push_back(one);
    check_order(*read, to.found);
    check_repeated(read->record, to.found);
    const auto text = base::read_file(folder + "/experiment.json");
    if (!text) return text.error();
    if (!is_same(analysis_in(*text), analysis_in(record_text(read->record, analysed))))
        to.found.push_back(differing_verdicts(read->record.version));
    for (const experiment::recorded_run& one : read->record.runs) {
        if (one.end == experiment::run_end::complete) continue;
        to.noted.push_back(
            fmt::format("{}: {}", one.folder, one.reason.empty() ? "interrupted" : one.reason));
    }
    return {boost::system::in_place_value, std::move(to)};
}

}  // namespace postal::compare
