// SPDX-License-Identifier: GPL-3.0-or-later
// What a rank of a run on many machines had a share in; plain data, in the record's `ranks`.
//
// Clocks are compared with rank 0's, whose own offset is 0. Times are seconds since the start of
// the run, on rank 0's clock. What is not known is empty.
#pragma once

#include "stats/counters.hpp"
#include "stats/generator.hpp"
#include "stats/run_ending.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::stats {

struct rank_share {
    unsigned rank = 0;
    std::string host;
    std::uint64_t workers = 0;
    std::uint64_t sessions = 0;
    std::uint64_t processors = 0;  // that it may run on
    std::uint64_t machine_processors = 0;

    std::optional<double> wall_offset_s;  // its wall clock less that of rank 0
    // Of the steady clocks, which schedules go by, for the start: so much it was told to be ahead
    // of that of rank 0, and that is wrong by at most the bound.
    std::optional<double> clock_offset_s;
    std::optional<double> clock_bound_s;
    std::optional<double> clock_drift;  // seconds that it gains in a second, of the whole run
    // What the bound goes by: by so much may the two gain on each other in a second, as their
    // kernels said at worst.
    std::optional<double> clock_drift_limit;
    // How often it went ahead or back by more than that, against rank 0's: it was set, or stood
    // still.
    std::uint64_t clock_steps = 0;
    std::uint64_t wall_steps = 0;
    std::optional<double> clock_step_s;  // the largest of these
    std::optional<double> start_late_s;  // after the agreed instant
    bool missed_start = false;           // so late that its schedule was not the others'

    counts totals;  // after the warm-up
    counts totals_with_warmup;
    std::vector<std::uint64_t> messages;  // accepted, by interval, in the order of the record's
    std::optional<double> p50_us;         // of the message phase, after the warm-up
    std::optional<double> p99_us;

    run_ending ended{};             // why
    std::optional<double> done_s;   // when it had nothing left to do
    std::optional<double> lost_s;   // when it was last heard of, where it did not end
    std::uint64_t unaccounted = 0;  // of a lost one: messages that are in no outcome, at least

    std::optional<generator_verdict> verdict;  // of its generator
    std::string reason;
    std::optional<double> worker_busy;
};

}  // namespace postal::stats
