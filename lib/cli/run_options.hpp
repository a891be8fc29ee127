// The options of a run that every load program honours alike: how long, how often to report, what
// to leave behind.
#pragma once

#include "cli/options.hpp"
#include "stats/log_format.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace postal::cli {

extern const file_kind run_record;

unsigned default_workers() noexcept;  // one for each processor that this process may use

struct run_options {
    unsigned workers = default_workers();  // operating-system threads
    std::chrono::nanoseconds duration{0};  // 0: until interrupted
    std::chrono::nanoseconds warmup{0};    // left out of totals and rate
    std::chrono::nanoseconds interval{std::chrono::minutes{1}};
    bool align_minutes = false;  // end intervals at the clock's minute, as the original did
    stats::log_format format = stats::log_format::csv;
    std::string record = {};  // file for the run record, "-" for standard output, empty for none
    std::vector<std::string> thresholds = {};
    std::string metrics = {};  // HOST:PORT for scrapers; empty: none
    bool live = false;         // a screen of its own in place of the live line
    bool progress = false;     // the live line although standard error is no terminal
    std::chrono::nanoseconds grace{std::chrono::seconds{10}};
};

// The rows, bound to `options`. `check_threshold` refuses expressions that the program cannot
// evaluate.
group run_options_group(run_options& options, setter check_threshold = {});

// What only shows when all options are known: a warm-up that is not shorter than the run, intervals
// that cannot be aligned. Called after parse().
base::expected<void> check(const run_options& options);

}  // namespace postal::cli
