// SPDX-License-Identifier: GPL-3.0-or-later
// What rank 0 knows of another rank's clocks, the steady and the wall clock, and what it told the
// rank by that. Nothing here fails.
#pragma once

#include <chrono>

#include "cluster/clock.hpp"
#include "cluster/words.hpp"
#include "stats/rank_share.hpp"

namespace postal::cluster {

class rank_clocks {
  public:
    // By both of our clocks.
    struct moment {
        std::chrono::steady_clock::time_point at{};
        nanoseconds wall{};
    };
    static moment now();

    // What it answers to a question of that moment.
    void add(const moment& asked, const pong& answer);
    void end_burst();

    // The run begins when our clock says that; gives what the rank's says then.
    nanoseconds tell_start(nanoseconds at);
    // By how much the instant that it was told may have been another.
    nanoseconds start_bound() const;
    void describe(stats::rank_share& into) const;

  private:
    clock_estimate steady_;
    clock_estimate wall_;
    nanoseconds told_at_{};
    nanoseconds told_offset_{};
    nanoseconds told_bound_{};
    double most_drift_ = 0;   // of both clocks, as the last burst's end said
    double drift_limit_ = 0;  // the most of these
};

}  // namespace postal::cluster
