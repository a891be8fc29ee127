// SPDX-License-Identifier: GPL-3.0-or-later
// Puts the time slices of all ranks together, in the order of time: what one report is made from.
//
// All ranks cut their time alike (the same interval, the same warm-up, from the same start), so
// that slices with the same beginning are parts of one. A run's last slices are shorter: a rank
// ends, or hears of the stop a moment later than another, and what a rank counted while it was
// draining is kept apart from what others counted before they stopped, unless all who drained had
// ended by then: no interval has no length. A merged time slice is complete when every rank that is
// not lost has gone beyond it. Holds what is not complete yet, and nothing else. Nothing here fails
// or reads a clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "load/worker.hpp"
#include "stats/run_report.hpp"

namespace postal::cluster {

class slice_merger {
  public:
    // `workers` of each rank, in the order of ranks: a merged time slice has them all, one behind
    // the other.
    slice_merger(load::timetable times, std::size_t phases, std::vector<std::size_t> workers);

    // A rank's slices come in order. What comes of a rank that was lost is not taken: false.
    bool add(unsigned rank, stats::time_slice slice);
    void end(unsigned rank);

    // The next that is complete; its `ranks` says how many have a part in it. After the last rank
    // has ended or was lost everything is complete.
    std::optional<stats::time_slice> take();
    // The rank for which take() has waited longest: the one that has counted least far, and until
    // when; nothing when all have ended.
    struct straggler {
        unsigned rank = 0;
        std::chrono::nanoseconds until{};
    };
    std::optional<straggler> slowest() const;

  private:
    struct slot {
        std::chrono::nanoseconds begin{};
        bool draining = false;
        bool operator<(const slot& other) const noexcept {
            return std::pair(draining, begin) < std::pair(other.draining, other.begin);
        }
    };
    struct cell {
        stats::time_slice all;
        std::vector<bool> has_part;  // by rank
    };
    // one rank's way
    struct progress {
        std::chrono::nanoseconds until{};
        bool draining = false;
        bool over = false;
    };
    std::chrono::nanoseconds cell_of(std::chrono::nanoseconds when) const noexcept;
    bool complete(const slot& one) const noexcept;
    bool all_stopped() const noexcept;
    bool all_over() const noexcept;
    bool only_drained_before(std::chrono::nanoseconds end) const noexcept;
    void take_in_drained(cell& last);
    std::optional<stats::time_slice> take_end();

    load::timetable times_;
    std::size_t phases_;
    std::vector<std::size_t> first_worker_;  // of each rank, and behind the last
    std::vector<progress> ranks_;
    std::map<slot, cell> open_;
    std::chrono::nanoseconds handed_on_until_{};
    unsigned handed_on_ranks_ = 0;  // that had a part in the last one
    std::chrono::nanoseconds interval_start_{};
    std::chrono::nanoseconds stopped_at_{};  // the end of what was counted before draining
};

}  // namespace postal::cluster
