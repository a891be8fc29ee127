// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment's runs say: their values, which blocks count, and the verdicts.
//
// Flow: read_results(folder) reads the experiment's record, the runs' records and their costs;
// analyse() computes from these alone, so that the verdict can be recomputed by anybody who has the
// folder. How the verdicts are made is stats/experiment/comparison.hpp's business and explained in
// docs/method.md.
//
// A block is voided by a run in it that failed, that was cut short, whose load generator was the
// limit, whose share of errors is above the bound, or that delivered nothing; of readers that watch
// (rabid --watch) by one in which none of their sessions was open, for where nothing is told of
// there is nothing to read. Where the verdict or a gate is about how soon readers are told, their
// errors and sessions void nothing: who was thrown out was told nothing, and that is never. A block
// that is not finished counts for those variants that were run in it.
#pragma once

#include "base/result.hpp"
#include "experiment/announced.hpp"
#include "experiment/costs.hpp"
#include "experiment/gate.hpp"
#include "experiment/record.hpp"
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/growth.hpp"
#include "stats/experiment/validity.hpp"
#include "stats/record_reader.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postal::experiment {

using metric_values = std::array<std::optional<double>, metrics.size()>;

// What a run's load of one program came to.
struct load_values {
    double messages = 0;    // after the warm-up, until the stop
    double measured_s = 0;  // in which they were
    double errors = 0;      // share of what ended otherwise
    // Of readers that wait: how many of the sessions that were asked for were open, on the average.
    std::optional<double> sessions_open{};
    double sessions_asked = 0;
    bool all_wait = false;  // all of them by IMAP, and so each for what comes
    metric_values values{};
};

struct measured_run {
    recorded_run run{};
    std::vector<stats::run_record> records{};  // by program; empty for a run that is not complete
    std::vector<load_values> loads{};          // the same
    std::optional<cost_log> log{};
    // On the log's clock: when the first program began; of those that do not watch, where there are
    // any.
    std::optional<double> load_from_s{};
    std::optional<costs> spent{};  // from the warm-up's end to the stop
    std::optional<announced_account> announced{};
    std::string voids{};  // why its block is voided; empty: it is not
    // Where the experiment asks how soon readers were told: what kept some from being told, and did
    // not void the block; empty: nothing.
    std::string untold{};
};

struct results {
    std::string folder{};
    experiment_record record{};
    std::vector<measured_run> runs{};  // that count, in order of time: of equal ones the last
    // Of files that the record names: missing, unreadable, or not what they were.
    std::vector<std::string> damaged{};
};

// Whether the folder holds an experiment's record.
[[nodiscard]] bool is_results_folder(const std::string& path);

// How the files of a folder are read, "FOLDER/runs/b01-1-default/postal.json", each up to so many
// octets; by several threads at once. What is wrong is said with the path.
using file_source =
    std::function<base::expected<std::string>(const std::string& path, std::uint64_t most)>;
[[nodiscard]] const file_source& from_disk();

inline constexpr std::uint64_t largest_record = std::uint64_t{256} << 20U;

// Fails when there is no readable record. A file that two runs name, each of which wrote its own,
// is read for the first one only.
[[nodiscard]] base::expected<results> read_results(const std::string& folder);
[[nodiscard]] base::expected<results> read_results(const std::string& folder,
                                                   const file_source& from);

// One run's files, from the folder; what is wrong with them is added to `into.damaged`.
[[nodiscard]] measured_run read_run(const recorded_run& run, results& into);

// What was kept of a run beside its loads' records.
struct kept_beside {
    std::optional<cost_log> log{};
    std::optional<announced_account> announced{};
};
// What a run's records say.
[[nodiscard]] measured_run result_of(const recorded_run& run,
                                     std::vector<stats::run_record> records, kept_beside beside,
                                     const experiment_record& of);

// Of the devices of these names together; empty where it is not known of one of them.
[[nodiscard]] std::optional<double> sum_of(const costs& spent,
                                           const std::vector<std::string>& devices,
                                           std::optional<double> device_costs::*amount);

struct block_result {
    std::uint64_t number = 0;
    std::size_t runs = 0;
    std::string voided{};  // why; empty: it counts
};

struct metric_result {
    std::size_t program = 0;
    metric about = metric::messages;
    stats::metric_table table{};
    stats::experiment_result compared{};
    std::vector<std::optional<double>>
        typical{};  // by variant: the geometric mean over its blocks;
                    // where one is 0, the arithmetic one; where one is never, the middle one
};

// How a figure grows with the size that variants differ in ([verdict] size).
struct growth_result {
    std::size_t program = 0;
    std::string what{};   // "median latency", "verb sort"
    bool is_time = true;  // in microseconds
    stats::growth found{};
    std::vector<std::optional<double>> typical{};  // by variant, as above
};

struct analysis {
    std::vector<block_result> blocks{};
    std::vector<metric_result> metrics{};  // the first one carries the verdict
    std::vector<gate_finding> gates{};
    std::vector<growth_result> growths{};
    std::vector<std::optional<double>> sizes{};  // by variant; empty without such a size
    std::optional<stats::drift> drift{};         // of the verdict's metric
    std::vector<std::optional<stats::warmup_check>> warmups{};  // by variant
    std::optional<double> flush_median_s{};                     // over all runs
    std::size_t at_rate = 0;  // runs whose load was as fast as it was told to be, and no faster
    std::size_t limited = 0;  // runs in which the generator was the limit
    std::size_t machine_full = 0;  // runs on a machine that was shared and full
    std::size_t held_back = 0;     // runs in which a quota or a stop held load programs back
    // Runs in which fewer sessions waited than were asked for, and the least share of them.
    std::size_t with_fewer_sessions = 0;
    double least_share_open = 1;

    [[nodiscard]] std::size_t voided() const;
    [[nodiscard]] const metric_result& verdict() const { return metrics.front(); }
};

[[nodiscard]] analysis analyse(const results& of);

// See metric_result; of the blocks that are not voided.
[[nodiscard]] std::vector<std::optional<double>> typical_of(const stats::metric_table& table);

// The blocks that count are as many as the wanted width takes; see stats::may_stop().
[[nodiscard]] bool has_enough_for_width(const analysis& of);
// How many blocks that is, of the pair that needs most; empty until each pair has told.
[[nodiscard]] std::optional<std::size_t> blocks_for_width(const analysis& of);

// Whether there is a block that a verdict, or a figure, could be made from.
[[nodiscard]] bool any_block_counts(const analysis& of);

// The record with its analysis.
[[nodiscard]] std::string record_text(const experiment_record& record, const analysis& found);

}  // namespace postal::experiment
