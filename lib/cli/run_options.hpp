// SPDX-License-Identifier: GPL-3.0-or-later
// The options of a run that every load program honours alike: how long, how often to report, what
// to leave behind.
#pragma once

#include "cli/options.hpp"
#include "stats/log_format.hpp"
#include "stats/run_labels.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace postal::cli {

extern const file_kind run_record;

unsigned default_workers() noexcept;  // one for each processor that this process may use

struct run_options {
    unsigned workers = default_workers();                   // operating-system threads
    std::chrono::nanoseconds duration{0};                   // 0: until interrupted
    std::chrono::nanoseconds warmup{0};                     // left out of totals and rate
    std::optional<std::chrono::nanoseconds> interval = {};  // none: one that fits, interval_of()
    bool align_minutes = false;  // end intervals at the clock's minute, as the original did
    stats::log_format format = stats::log_format::csv;
    std::string record = {};  // file for the run record, "-" for standard output, empty for none
    std::vector<std::string> thresholds = {};
    stats::run_labels labels = {};
    std::string metrics = {};  // HOST:PORT for scrapers; empty: none
    std::string push = {};     // URL that results go to; empty: none
    bool live = false;         // a screen of its own in place of the live line
    bool progress = false;     // the live line although standard error is no terminal
    std::chrono::nanoseconds grace{std::chrono::seconds{10}};
};

// Refuses expressions that the program cannot evaluate; one that it can.
struct threshold_rule {
    setter check = {};
    std::string example = "p99(message)<1s";
};

// The rows, bound to `options`.
group run_options_group(run_options& options, threshold_rule thresholds = {});

// How often to report, once the duration is known: as asked for, else a minute, but about a tenth
// of a run that ends within ten, in whole parts of a minute and of the warm-up and no less than a
// second.
std::chrono::nanoseconds interval_of(const run_options& options);

// What only shows when all options are known: a warm-up that is not shorter than the run, intervals
// that cannot be aligned. Called after parse().
base::expected<void> check(const run_options& options);

}  // namespace postal::cli
