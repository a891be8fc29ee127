// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/conduct.hpp"

#include "base/read_file.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "base/write_file.hpp"
#include "experiment/analysis.hpp"
#include "experiment/check.hpp"
#include "experiment/findings.hpp"
#include "experiment/kept_results.hpp"
#include "experiment/plan.hpp"
#include "experiment/run.hpp"
#include "experiment/versions.hpp"
#include "experiment/workplace.hpp"
#include "os/host.hpp"
#include "os/terminal_size.hpp"
#include "postal-compare/console.hpp"
#include "postal-compare/junit.hpp"
#include "postal-compare/resume.hpp"
#include "stats/record_writer.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace postal::compare {
namespace {

namespace fs = std::filesystem;
using cli::exit_status;
using experiment::refusal;
using experiment::run_end;

// So many blocks in a row that a failed step has voided end an experiment: the next would fail,
// too.
constexpr std::uint64_t most_failed_blocks = 2;

// A run that was interrupted has its folder already.
std::string new_folder(const std::string& wanted) {
    std::string path = wanted;
    for (int again = 2; fs::exists(path); ++again)
        path = fmt::format("{}-again{}", wanted, again);
    return path;
}

std::vector<std::string> texts_of(const std::vector<experiment::gate>& gates) {
    std::vector<std::string> all;
    for (const experiment::gate& one : gates)
        all.push_back(one.text);
    return all;
}

// An experiment under way.
class conductor {
  public:
    conductor(const options& given, const experiment::experiment& whole)
        : given_(given),
          whole_(whole),
          here_("postal-compare", given),
          out_(here_.folder()),
          console_(here_.console()) {
        results_.folder = out_;
    }

    std::optional<refusal> begin(std::uint64_t seed, const std::vector<std::string>& argv);
    void run_blocks();
    exit_status finish();

  private:
    std::optional<refusal> open_folder();
    base::expected<void> read_baseline();
    base::expected<void> resume_record();
    void describe_experiment(experiment::experiment_record& to) const;
    void fill_record(std::uint64_t seed, const std::vector<std::string>& argv);
    versions ask_versions() {
        return experiment::ask_versions("postal-compare", whole_, out_, here_.by(), here_.book());
    }
    bool is_done(const experiment::planned_run& one) const;
    bool is_failed(std::uint64_t block) const;
    bool has_enough_blocks();
    // Whether the experiment goes on.
    bool run_block(std::uint64_t block);
    bool run_one(const experiment::planned_run& one);
    void take_down(const experiment::planned_run& one, const std::string& folder,
                   const experiment::run_result& ended);
    bool write_record();
    base::expected<void> write_junit(const experiment::results& of) const;
    exit_status status_of_gates(const experiment::analysis& found);
    void end(const std::string& why);
    experiment::kept_file kept(const std::string& name, const std::string& path) const;

    const options& given_;
    experiment::experiment whole_;
    experiment::workplace here_;
    const std::string& out_;  // its folder
    console console_;
    experiment::results results_;
    std::vector<experiment::kept_result> kept_;
    std::vector<experiment::leftover> left_;
    bool write_failed_ = false;
    bool told_blocks_ = false;  // how many a width takes
    bool failed_ = false;       // it ended because runs failed
};

std::optional<refusal> conductor::open_folder() {
    std::error_code problem;
    const bool is_there = fs::exists(out_, problem);
    if (is_there && !given_.resume)
        return refusal{
            base::fail("--out: {} is there already; --resume goes on with it, --out names "
                       "another one",
                       base::printable(out_, 300))};
    if (!is_there && given_.resume)
        return refusal{base::fail("--resume: there is no {}", base::printable(out_, 300))};
    if (is_there && !fs::exists(out_ + "/journal.jsonl", problem))
        return refusal{base::fail("--resume: {} is no folder of an experiment's results",
                                  base::printable(out_, 300))};
    return std::nullopt;
}

base::expected<void> conductor::resume_record() {
    auto read = experiment::read_results(out_);
    if (!read) return read.error();
    const auto taken = take_up(read->record, given_, ask_versions(), whole_);
    if (!taken) return taken.error();
    if (const auto compared = read_baseline(); !compared) return compared;
    for (const std::string& one : read->damaged)
        here_.say(one);
    results_ = std::move(*read);
    if (!given_.gates.empty()) {
        results_.record.gates = texts_of(given_.gates);
        results_.record.baseline = given_.baseline;
        results_.record.kept = kept_;
    }
    return {};
}

// What does not depend on when it runs.
void conductor::describe_experiment(experiment::experiment_record& to) const {
    to.title = whole_.title;
    to.file = whole_.file;
    to.text = whole_.text;
    to.duration_s = base::seconds_of(whole_.offered.duration);
    to.warmup_s = base::seconds_of(whole_.offered.warmup);
    to.host = os::describe_host();
    to.verdict = whole_.verdict;
    for (const experiment::load_program& one : whole_.offered.programs)
        to.programs.push_back(one.name);
    to.variants = experiment::recorded_variants(whole_);
    to.blocks = whole_.offered.blocks;
    to.until_width = given_.until_width;
    to.gates = texts_of(given_.gates);
    to.baseline = given_.baseline;
}

void conductor::fill_record(std::uint64_t seed, const std::vector<std::string>& argv) {
    experiment::experiment_record& to = results_.record;
    describe_experiment(to);
    to.version = base::build_version;
    to.argv = argv;
    to.seed = seed;
    to.started = stats::timestamp(std::chrono::system_clock::now());
    to.kept = kept_;
    to.versions = ask_versions();
}

// Of runs as long as these, which of an experiment that goes on its record says.
base::expected<void> conductor::read_baseline() {
    if (given_.baseline.empty()) return {};
    experiment::experiment_record now;
    describe_experiment(now);
    auto read = experiment::read_kept(given_.baseline, now, out_);
    if (!read) return base::fail("--baseline: {}", read.error().message);
    for (const std::string& one : read->left_out)
        here_.say("--baseline: " + one);
    kept_ = std::move(read->kept);
    return {};
}

std::optional<refusal> conductor::begin(std::uint64_t seed, const std::vector<std::string>& argv) {
    // What an earlier run has left there is not this one's, which may be refused or killed. Who
    // goes on with an experiment may have its gates in the record, which is not read yet.
    experiment::results pending;
    describe_experiment(pending.record);
    if (!given_.gates.empty())
        if (const auto written = write_junit(pending); !written) return refusal{written.error()};
    const bool goes_on = given_.resume && experiment::is_results_folder(out_);
    if (const auto read = goes_on ? base::expected<void>{} : read_baseline(); !read)
        return refusal{read.error()};
    if (auto refused = open_folder()) return refused;
    // What an earlier program left running would be taken for somebody else's.
    if (!given_.resume) {
        const auto checked = experiment::check_machine(
            whole_, {.out = out_, .overwrite = given_.overwrite, .resume = false});
        if (!checked) return refusal{checked.error()};
    }
    std::error_code problem;
    if (!given_.resume) fs::create_directories(fs::path(out_).parent_path(), problem);
    // Not one that somebody else made meanwhile.
    if (!problem && !given_.resume && ::mkdir(out_.c_str(), 0755) != 0)
        problem = {errno, std::generic_category()};
    if (problem) return here_.no_folder(problem);
    if (auto refused = here_.open()) return refused;
    fs::create_directory(out_ + "/runs", problem);
    if (problem) return here_.no_folder(problem, "/runs");
    if (given_.resume) {
        if (auto refused = here_.clear_up()) return refused;
        const auto checked = experiment::check_machine(
            whole_, {.out = out_, .overwrite = given_.overwrite, .resume = true});
        if (!checked) return refusal{checked.error()};
    }
    // It may have been killed before there was a record.
    if (goes_on) {
        if (const auto resumed = resume_record(); !resumed) return refusal{resumed.error()};
    } else {
        fill_record(seed, argv);
    }
    results_.record.ended.clear();
    if (!write_record())
        return refusal{base::fail("the record cannot be written"), exit_status::system_error};
    if (const auto written = write_junit(results_); !written)
        return refusal{written.error(), exit_status::system_error};
    return std::nullopt;
}

bool conductor::is_done(const experiment::planned_run& one) const {
    return std::any_of(results_.runs.begin(), results_.runs.end(),
                       [&](const auto& run) { return run.run.at == one; });
}

bool conductor::is_failed(std::uint64_t block) const {
    return std::any_of(results_.runs.begin(), results_.runs.end(), [&](const auto& run) {
        return run.run.at.block == block && run.run.end == run_end::failed;
    });
}

void conductor::run_blocks() {
    std::uint64_t failed = 0;
    for (std::uint64_t block = 1; block <= results_.record.blocks; ++block) {
        // Also of an experiment that goes on: what came later must not decide when it ends.
        if (results_.record.until_width && has_enough_blocks())
            return end(experiment::enough_for_width);
        const std::size_t before = results_.runs.size();
        if (!run_block(block)) return;
        // Those of an earlier call may have failed for what has been mended since.
        if (results_.runs.size() == before) continue;
        failed = is_failed(block) ? failed + 1 : 0;
        if (failed == most_failed_blocks) {
            failed_ = true;
            return end(fmt::format("{} blocks in a row have failed", failed));
        }
    }
    end(experiment::all_blocks_done);
}

// Once the first blocks have told how many the width takes, that is said.
bool conductor::has_enough_blocks() {
    const auto found = experiment::analyse(results_);
    const auto blocks = experiment::blocks_for_width(found);
    if (blocks && !told_blocks_) {
        told_blocks_ = true;
        here_.say(fmt::format(
            "a width of {:g} % takes {} that count, by the scatter of the first {}",
            *results_.record.until_width * 100,
            *blocks > stats::most_blocks ? fmt::format("more than {} blocks", stats::most_blocks)
                                         : base::format_amount(*blocks, "block"),
            stats::pilot_blocks));
    }
    return experiment::has_enough_for_width(found);
}

bool conductor::run_block(std::uint64_t block) {
    const std::size_t variants = whole_.variants.size();
    for (const auto& one : experiment::runs_of_block(results_.record.seed, block, variants)) {
        if (is_done(one)) continue;
        // The block is void: what is left of it would say nothing.
        if (is_failed(block)) break;
        if (!run_one(one)) return false;
    }
    return true;
}

experiment::kept_file conductor::kept(const std::string& name, const std::string& path) const {
    const auto text = base::read_regular_file(path);
    return {name, fs::path(path).lexically_relative(out_).string(),
            text ? experiment::sha256_of(*text) : std::string()};
}

void conductor::take_down(const experiment::planned_run& one, const std::string& folder,
                          const experiment::run_result& ended) {
    experiment::recorded_run run{.at = one};
    run.end = ended.end;
    run.reason = ended.reason;
    run.folder = fs::path(folder).lexically_relative(out_).string();
    run.started = stats::timestamp(ended.started);
    for (const experiment::step_time& step : ended.steps)
        run.seconds += step.seconds;
    run.mounted = ended.mount;
    if (ended.flush) {
        run.flush_median_s = ended.flush->median_s;
        run.flush_max_s = ended.flush->maximum_s;
    }
    if (ended.caches) run.caches = ended.caches->dropped ? "dropped" : ended.caches->reason;
    for (const experiment::load_result& load : ended.loads)
        run.loads.push_back(kept(load.name, load.record));
    if (!ended.costs.empty()) run.costs = kept("costs", ended.costs);
    if (!ended.announced.empty()) run.announced = kept("announced", ended.announced);
    // A line of /proc/mounts begins with its device.
    if (!ended.mount.empty()) run.devices = {ended.mount.substr(0, ended.mount.find(' '))};
    results_.record.runs.push_back(run);
    if (run.end != run_end::interrupted)
        results_.runs.push_back(experiment::read_run(run, results_));
}

bool conductor::run_one(const experiment::planned_run& one) {
    const std::string folder = new_folder(out_ + "/runs/" + folder_of(one, whole_));
    console_.begin(one, whole_, results_.record.blocks);
    const auto ended = run_once({.of = whole_,
                                 .variant = one.variant,
                                 .block = one.block,
                                 .position = one.position + 1,
                                 .seed = results_.record.seed,
                                 .out = out_,
                                 .folder = folder,
                                 .existing = given_.overwrite ? testbed::existing_data::overwrite
                                                              : testbed::existing_data::keep},
                                here_.book(), here_.by(), console_.progress());
    take_down(one, folder, ended);
    for (const std::string& note : ended.notes)
        here_.say(note);
    const bool written = write_record();
    console_.ended(results_, one);
    left_ = ended.left;
    if (!left_.empty()) return end("something is left behind"), false;
    if (!written) {
        results_.record.end = "the record cannot be written";
        return false;
    }
    if (here_.by().is_interrupted()) return end("interrupted"), false;
    return true;
}

bool conductor::write_record() {
    const auto written = base::write_file(
        out_ + "/experiment.json", record_text(results_.record, experiment::analyse(results_)));
    if (!written) here_.say(written.error().message);
    write_failed_ = write_failed_ || !written;
    return written.has_value();
}

base::expected<void> conductor::write_junit(const experiment::results& of) const {
    if (given_.junit.empty()) return {};
    auto written = base::write_file(given_.junit, junit_text(of, experiment::analyse(of)));
    if (!written) return base::fail("--junit: {}", written.error().message);
    return {};
}

exit_status conductor::status_of_gates(const experiment::analysis& found) {
    const auto any = [&](stats::gate_verdict wanted) {
        return std::ranges::any_of(found.gates, [&](const experiment::gate_finding& one) {
            return one.result.verdict == wanted;
        });
    };
    if (any(stats::gate_verdict::missed)) return exit_status::threshold_not_met;
    const bool no_answer = !found.gates.empty() && !is_whole(results_.record);
    return no_answer || any(stats::gate_verdict::none) ? exit_status::nothing_delivered
                                                       : exit_status::done;
}

void conductor::end(const std::string& why) {
    results_.record.ended = stats::timestamp(std::chrono::system_clock::now());
    results_.record.end = why;
    write_record();
}

exit_status conductor::finish() {
    here_.console().finish();
    const auto found = experiment::analyse(results_);
    base::print(report::render_text(brief_document_of(results_, found),
                                    os::terminal_columns(STDOUT_FILENO)));
    base::print(here_.tables_hint());
    if (const auto written = write_junit(results_); !written) {
        here_.say(written.error().message);
        write_failed_ = true;
    }
    if (results_.record.end != experiment::all_blocks_done)
        here_.say("ended before all blocks were done: " + results_.record.end);
    if (here_.tell_leftovers(left_) || write_failed_) return exit_status::system_error;
    if (!any_block_counts(found)) return exit_status::nothing_delivered;
    if (failed_) return exit_status::system_error;
    bool as_expected = true;
    for (const auto& [variant, verdict] : given_.expect) {
        const std::string is = verdict_on(variant, results_.record, found);
        if (is == verdict) continue;
        as_expected = false;
        here_.say(fmt::format("--expect: the verdict on {} is {}, not {}",
                              base::printable(variant, 100), is, verdict));
    }
    return as_expected ? status_of_gates(found) : exit_status::threshold_not_met;
}

}  // namespace

exit_status conduct(const options& given, const experiment::experiment& whole, std::uint64_t seed,
                    const std::vector<std::string>& argv) {
    conductor by(given, whole);
    if (const auto refused = by.begin(seed, argv))
        return cli::refuse("postal-compare", refused->why, refused->status);
    by.run_blocks();
    return by.finish();
}

}  // namespace postal::compare
