// SPDX-License-Identifier: GPL-3.0-or-later
// The run records of one report: read from files, and told apart by labels.
//
// read_record() takes a file that somebody else may have written; see stats/record_reader.hpp for
// what is refused. A record of more than 256 MiB is.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "stats/record_reader.hpp"

namespace postal::report {

using interval = stats::interval_row;
using message_rate = stats::rate_summary;
using phase = stats::phase_figures;
using stats::counter;
using stats::counter_kind;
using stats::error_entry;
using stats::generator_verdict;
using threshold = stats::threshold_result;

struct record : stats::run_record {
    std::string label{};  // short and unique among the records of one report
    std::string file{};
};

// Of a phase: its median, its longest time, ...
using time_figure = std::optional<std::chrono::nanoseconds> stats::time_figures::*;

// In microseconds.
inline std::optional<double> us(std::optional<std::chrono::nanoseconds> time) {
    return time ? std::optional(static_cast<double>(time->count()) / 1e3) : std::nullopt;
}
// The same; nothing where a record has no such phase.
inline std::optional<double> value_of(const phase* of, time_figure figure) {
    return of == nullptr ? std::nullopt : us(of->*figure);
}

// Reads one file; "-" is standard input. The message of a failure names the file and is safe to
// print.
base::expected<record> read_record(const std::string& file);

// Gives every record a label: the file's name without folder and .json, the path where two of them
// would be alike, and a number where even that is the same.
void label(std::vector<record>& records);

}  // namespace postal::report
