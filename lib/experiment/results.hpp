// SPDX-License-Identifier: GPL-3.0-or-later
// The results of an experiment as they are read back: what each run came to, and whether it counts.
//
// Flow: read_results() reads the experiment's record, and all files that it names of the runs that
// count; result_of() makes of each what run_values.hpp and void_runs.hpp say of it. A file that is
// missing, or not what the run wrote, voids its run and is told among the damaged ones.
#pragma once

#include "base/result.hpp"
#include "experiment/announced.hpp"
#include "experiment/costs.hpp"
#include "experiment/record.hpp"
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

}  // namespace postal::experiment
