// SPDX-License-Identifier: GPL-3.0-or-later
// What one rank has counted, as far as its time slices have come: the sums, and what it accepted in
// each interval of the whole run. Nothing here fails.
#pragma once

#include <cstdint>
#include <vector>

#include "stats/rank_share.hpp"
#include "stats/run_report.hpp"

namespace postal::cluster {

class rank_books {
  public:
    // Of a time slice, before somebody else has it.
    struct entry {
        explicit entry(const stats::time_slice& from);

        double start_s;
        bool draining;
        bool in_warmup;
        stats::counts sums;
    };
    void add(const entry& one);
    // A time slice of all ranks together: what is waiting belongs to it, or to a later one.
    void hand_on(const stats::time_slice& merged);
    // There is no later one.
    void close();

    void describe(stats::rank_share& into) const;
    // Of what a rank says it has begun, that of which no outcome has come.
    std::uint64_t unaccounted(std::uint64_t started) const;

  private:
    struct piece {
        double start_s = 0;
        bool draining = false;
        std::uint64_t messages = 0;
    };

    stats::counts measured_{};
    stats::counts all_{};
    std::vector<piece> waiting_{};           // of intervals that are not complete
    std::vector<std::uint64_t> messages_{};  // by interval
    std::uint64_t messages_now_ = 0;         // of the interval that goes on
};

}  // namespace postal::cluster
