// SPDX-License-Identifier: GPL-3.0-or-later
// What a run comes to: time slices of counted time go in, a run_record comes out.
//
// Flow: construct with the description; add_time_slice() for each stretch of time, in order;
// finish() with what is known at the end; set `thresholds` from their evaluation; then print, and
// write the record().
//
// A time slice is at most one interval. The end of the warm-up inside an interval splits it in two
// time slices, the first with in_warmup; the interval that closes_interval is then marked as
// warm-up and left out of the rate. totals() leaves the warm-up time slices out,
// totals_with_warmup() does not.
//
// Runs of no length, without one message, without one interval are ordinary: rates are then 0, and
// what cannot be known (a deviation of one value, a percentile of nothing) is an empty optional.
// Nothing here fails. Single-threaded; holds about 500 octets an interval, and what seconds() has.
#pragma once

#include "stats/capacity/record.hpp"
#include "stats/ranking.hpp"
#include "stats/run_record.hpp"
#include "stats/second_counts.hpp"
#include "stats/tally.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

// Of all workers together, of every rank that had a part.
struct worker_sums {
    double worker_cpu_s = 0;  // processor time of their threads, and of no other
    double connected_s = 0;   // how long each connection was open, added up
};
[[nodiscard]] worker_sums sums_of(const std::vector<worker_time>& workers);
// How many connections were open on average; nothing of a time without length.
[[nodiscard]] std::optional<double> mean_open(double connected_s, double length_s);

// What all workers counted from start_s to end_s, in seconds since the run began.
struct time_slice : span_times {
    explicit time_slice(std::size_t phases) : counts(phases) {}

    double start_s = 0;
    double end_s = 0;
    bool in_warmup = false;
    bool closes_interval = false;  // the last time slice of its interval (and the last of the run)
    bool partial = false;          // the interval is, until its end, shorter than it should be
    bool draining = false;         // after the stop, while what was in flight is finished
    tally counts;
    unsigned ranks = 1;  // whose counts these are

    // Merges what worker number `worker` counted, and notes its own busy and wall time.
    void add_worker(std::size_t worker, const tally& counted);
    // Merges what was counted in another part of the same stretch of time.
    void merge(const time_slice& other);
};

// An interval that has just ended; valid until the next add_time_slice().
struct closed_interval {
    const interval_row& row;
    const tally& counts;
};

struct run_end {
    double duration_s = 0;
    run_ending why{};
    double cpu_user_s = 0;
    double cpu_system_s = 0;
    std::uint64_t max_rss_bytes = 0;
    std::uint64_t most_connections = 0;  // open at once; of servers
    std::optional<interruption> interrupted{};
};

class run_report {
  public:
    explicit run_report(run_description description);

    // Empty while the interval goes on.
    std::optional<closed_interval> add_time_slice(const time_slice& added);
    void starts(std::chrono::system_clock::time_point when) noexcept {
        description_.started = when;
    }
    void finish(const run_end& end) noexcept { end_ = end; }
    // Of a run of several processes, rank 0 first.
    void set_ranks(std::vector<rank_share> ranks);

    [[nodiscard]] const run_description& description() const noexcept { return description_; }
    // An interval that was not closed is not among them.
    [[nodiscard]] const std::vector<interval_row>& intervals() const noexcept { return rows_; }
    [[nodiscard]] const tally& totals() const noexcept { return totals_; }
    [[nodiscard]] const tally& totals_with_warmup() const noexcept { return with_warmup_; }
    [[nodiscard]] const run_end& end() const noexcept { return end_; }
    // Empty for a run of one process.
    [[nodiscard]] const std::vector<rank_share>& ranks() const noexcept { return ranks_; }
    // Seconds from the end of the warm-up to the stop.
    [[nodiscard]] double measured_s() const noexcept { return measured_s_; }
    // What was counted in that time: without what was finished after the stop.
    [[nodiscard]] const counts& measured() const noexcept { return measured_; }
    // Of that phase after the warm-up; of all that was due where it is an open loop's due phase.
    [[nodiscard]] ranking latency(std::size_t phase) const;
    // Messages per minute over the whole intervals after the warm-up. When there is none, over the
    // time that was measured, with a count of 0 and no deviation.
    [[nodiscard]] rate_summary rate() const;
    [[nodiscard]] const second_counts& seconds() const noexcept { return seconds_; }
    [[nodiscard]] std::optional<cap_summary> cap() const;
    [[nodiscard]] connection_summary connections() const;
    // Of several ranks the worst, too: a rank's own verdict counts as much as that of all together,
    // and its reason names it.
    [[nodiscard]] generator_summary generator() const;
    // What was asked for in vain, "--option VALUE: why", with the number of connections; of the
    // whole run.
    [[nodiscard]] named_counts not_in_effect() const;
    // All of it, as it is kept.
    [[nodiscard]] run_record record() const;

    std::vector<threshold_result> thresholds;
    std::optional<capacity::search_record> search;  // when the run is over, of one that searched
    std::vector<sampled_source> samples;            // when the run is over
    std::vector<sampled_value> latest_samples;      // of each source, while it goes on

  private:
    [[nodiscard]] interval_row close_row() const;
    // Messages; of a run with a rate.
    [[nodiscard]] std::optional<double> asked_between(double start_s, double end_s) const;

    run_description description_;
    std::vector<interval_row> rows_;
    time_slice current_;  // the interval that goes on
    bool current_open_ = false;
    second_counts seconds_;
    tally totals_;
    tally with_warmup_;
    generator_load whole_;  // from the end of the warm-up to the stop
    span_times measured_times_;
    struct progress {
        double at_s = 0;
        std::uint64_t begun = 0;  // of what a schedule asked for
    };
    progress warmed_up_, stopped_;
    bool measuring_ = false;
    double measured_s_ = 0;
    counts measured_;
    run_end end_;
    std::vector<rank_share> ranks_;
};

}  // namespace postal::stats
