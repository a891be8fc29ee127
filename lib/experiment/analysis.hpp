// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment's runs say: their values, which blocks count, and the verdicts.
//
// Flow: read_results(folder) (results.hpp) reads the experiment's record, the runs' records and
// their costs; analyse() computes from these alone, so that the verdict can be recomputed by
// anybody who has the folder. How the verdicts are made is stats/experiment/comparison.hpp's
// business and explained in docs/method.md.
//
// Which blocks count follows from their runs (void_runs.hpp). A block that is not finished counts
// for those variants that were run in it.
#pragma once

#include "experiment/gate.hpp"
#include "experiment/record.hpp"
#include "experiment/results.hpp"
#include "stats/experiment/comparison.hpp"
#include "stats/experiment/growth.hpp"
#include "stats/experiment/validity.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::experiment {

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

// Whether a run's block is not voided, by itself or by another run.
[[nodiscard]] bool is_counted(const measured_run& one, const analysis& found);

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
