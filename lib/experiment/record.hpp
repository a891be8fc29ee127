// SPDX-License-Identifier: GPL-3.0-or-later
// The record of an experiment, DIR/experiment.json, schema "postal-experiment/1": what was asked
// for, on which machine, in which order, and what became of each run.
//
// It is written anew after each run, so that it is true whenever somebody looks. The verdicts are
// in it for readers; they follow from the runs' own records (analysis.hpp), whose digests stand
// here. What it consists of is in record_fields.hpp. parse_experiment_record() refuses, with one
// line that names the key, what is no such record. Keys that are not known are ignored.
#pragma once

#include "base/host.hpp"
#include "base/result.hpp"
#include "experiment/experiment.hpp"
#include "experiment/plan.hpp"
#include "mail/sha256.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::experiment {

inline constexpr std::string_view experiment_schema = "postal-experiment/1";

// A file of a run, named from DIR.
struct kept_file {
    std::string name;    // the load program's, "costs"
    std::string path;    // "runs/b01-1-default/postal.json"
    std::string sha256;  // 64 hexadecimal digits
};

// Why an experiment ended, where it was not cut short.
inline constexpr const char* all_blocks_done = "all blocks done";
inline constexpr const char* enough_for_width = "as many blocks as the width takes";
// Of records that were ended as soon as intervals happened to be narrow; they held the truth in 92
// to 94 %.
inline constexpr const char* narrow_enough = "the intervals are narrow enough";

// Every run that was begun, in the order of time; one that was begun again after an interruption is
// there twice.
struct recorded_run {
    planned_run at{};
    run_end end = run_end::complete;
    std::string reason{};                    // why it is not complete
    std::string folder{};                    // "runs/b01-1-default"
    std::string started{};                   // ISO 8601, UTC
    double seconds = 0;                      // with all its steps
    std::string mounted{};                   // the line of /proc/mounts; empty without storage
    std::optional<double> flush_median_s{};  // of fdatasync after 4 KiB on the storage
    std::optional<double> flush_max_s{};
    std::string caches{};  // "dropped", or why not
    std::vector<kept_file> loads{};
    std::optional<kept_file> costs{};
    std::optional<kept_file> announced{};  // see announced.hpp
    std::vector<std::string> devices{};    // whose costs are the storage's, "loop0"
};

struct recorded_variant {
    std::string name{};
    std::optional<std::size_t> same_as{};
    std::vector<std::pair<std::string, std::string>> values{};  // its variables, words joined
};

inline constexpr std::size_t most_kept = 30;

// What an experiment that was kept came to, for gates that compare with it (kept_results.hpp).
struct kept_result {
    std::string folder{};
    std::string started{};
    std::vector<std::vector<std::optional<double>>> values{};  // by gate and variant
    // The variants that are never, by gate; their values are null in JSON. Empty: none.
    std::vector<std::vector<std::uint64_t>> never{};
};

struct experiment_record {
    std::string version{};  // of postal-compare
    std::vector<std::string> argv{};
    std::string title{};
    std::string file{};  // the experiment's
    std::string text{};  // the whole of it
    std::uint64_t seed = 0;
    double duration_s = 0;
    double warmup_s = 0;
    std::uint64_t blocks = 0;  // planned
    std::string started{};
    std::string ended{};  // empty while it runs
    std::string end{};    // why it ended: "all blocks done", "interrupted", ...
    base::host_info host{};
    std::vector<std::pair<std::string, std::string>> versions{};  // program, its --version's line
    std::vector<std::string> programs{};                          // the names of the loads
    verdict_rules verdict{};
    std::optional<double> until_width{};
    std::vector<std::string> gates{};  // see gate.hpp
    std::string baseline{};            // the folder of `kept`; empty: gates are about variants here
    std::vector<kept_result> kept{};
    std::vector<recorded_variant> variants{};
    std::vector<recorded_run> runs{};
};

// It came to an end of its own, with all blocks that it was to have.
[[nodiscard]] bool is_whole(const experiment_record& of);

[[nodiscard]] std::vector<recorded_variant> recorded_variants(const experiment& whole);

[[nodiscard]] base::expected<experiment_record> parse_experiment_record(std::string_view text);

using mail::sha256_of;

}  // namespace postal::experiment
