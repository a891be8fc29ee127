// SPDX-License-Identifier: GPL-3.0-or-later
// What was counted in each second of a run, whatever its intervals are, so that a run of 20 s has a
// spread and a trend.
//
// Each worker ends its second when it comes to it, so that one may be some milliseconds long or
// short; a run of more than most_seconds has stretches of 2 s, then of 4 s, and so on, so that
// memory is bounded. Of stretches that were put together each percentile is the highest that they
// had. Stretches follow each other without a gap from the start to the stop; what is finished after
// the stop is in none. Single-threaded.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stats/histogram.hpp"
#include "stats/rate.hpp"

namespace postal::stats {

struct time_slice;

// One stretch.
struct second_count {
    double start_s = 0;
    double end_s = 0;
    std::uint64_t messages = 0;
    std::uint64_t errors = 0;
    bool warmup = false;
    double worker_cpu_s = 0;  // as worker_sums has both
    double connected_s = 0;
    std::optional<double> asked{};  // messages, of a run with a rate
    // Of the messages that were accepted in it, where enough were.
    std::optional<std::chrono::nanoseconds> p50{};
    std::optional<std::chrono::nanoseconds> p90{};
    std::optional<std::chrono::nanoseconds> p99{};
};

// While there was load: of a server, which waits before and after it.
struct loaded_time {
    double start_s = 0;
    double end_s = 0;
    std::uint64_t messages = 0;
    std::optional<double> per_second{};
};

class second_counts {
  public:
    static constexpr std::size_t most_seconds = 3600;
    // A stretch that is shorter than it should be by less than this is whole.
    static constexpr double whole_enough_s = 0.005;

    // `message_phase`: where tally::latency has the messages. `asked`: messages that a rate asked
    // for in that time.
    void add(const time_slice& added, std::size_t message_phase, std::optional<double> asked = {});

    [[nodiscard]] const std::vector<second_count>& all() const noexcept { return closed_; }
    // That a stretch has at least, in seconds; one before a change (the end of the warm-up, the
    // stop) may be shorter.
    [[nodiscard]] double width_s() const noexcept { return width_s_; }
    // Messages a second, of the stretches that are whole, after the warm-up.
    [[nodiscard]] rate_summary rate() const;
    // After the warm-up, between the first stretch in which a message was accepted and the last
    // one. These two are left out, for the load began and ended somewhere within them; nothing
    // where none is between.
    [[nodiscard]] std::optional<loaded_time> loaded() const;

  private:
    [[nodiscard]] bool whole(const second_count& one) const noexcept;
    void halve();

    std::vector<second_count> closed_;
    bool open_ = false;   // the last of them goes on
    histogram messages_;  // of the last of them
    double width_s_ = 1;
};

}  // namespace postal::stats
