// Puts the time slices of all ranks together, in the order of time: what one report is made from.
//
// All ranks cut their time alike (the same interval, the same warm-up, from the same start), so that
// slices with the same beginning are parts of one. A run's last slices are shorter: a rank ends, or
// hears of the stop a moment later than another. What is counted while draining comes behind
// everything else. A merged time slice is complete when every rank that is not lost has gone beyond
// it, or has ended.
// Holds what is not complete yet, and nothing else. Nothing here fails or reads a clock.
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
    slice_merger(const load::timetable& times, std::size_t phases,
                 const std::vector<std::size_t>& workers);

    // A rank's slices come in order. What comes of a rank that has ended or was lost is not taken:
    // false.
    bool add(unsigned rank, stats::time_slice slice);
    // It has no more; what it counted stays.
    void end(unsigned rank) { ranks_[rank].over = true; }

    // The next that is complete; its `ranks` says how many have a part in it.
    std::optional<stats::time_slice> take();

  private:
    using nanoseconds = std::chrono::nanoseconds;
    struct part {
        explicit part(std::size_t phases) : sum(phases) { sum.ranks = 0; }
        stats::time_slice sum;
        nanoseconds end{};
        std::optional<double> pressure_s;  // the highest: it is no sum
    };
    struct progress {
        nanoseconds until{};
        bool draining = false;
        bool over = false;
    };
    // By where they begin, those of draining behind all others.
    using slots = std::map<std::pair<bool, nanoseconds>, part>;

    nanoseconds slot_of(nanoseconds when) const noexcept;
    bool complete(bool draining, nanoseconds end) const noexcept;
    bool all_over() const noexcept;

    load::timetable times_;
    std::size_t phases_;
    std::vector<std::size_t> first_worker_;
    std::vector<progress> ranks_;
    slots open_;
    nanoseconds taken_until_{};
    nanoseconds interval_start_{};
};

}  // namespace postal::cluster
