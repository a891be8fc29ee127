// SPDX-License-Identifier: GPL-3.0-or-later
// How a mail server's queue stands during a search, of counts that come from time to time: messages
// above the fewest that were ever there, for what waited before the search is not its doing, and
// may go meanwhile.
//
// Flow: note() each count as it becomes known, with when it was made; above() then is what waited
// at a time, on the line between the two counts around it. forget_before() what nobody asks about
// any more. Times are since the start of the run. Pure; nothing here fails.
#pragma once

#include <chrono>
#include <deque>
#include <limits>

namespace postal::capacity {

class queue_course {
  public:
    // Ignored where it is not later than the one before.
    void note(std::chrono::nanoseconds when, double messages);

    [[nodiscard]] bool is_known() const noexcept { return !counts_.empty(); }
    // When the newest count was made; there is one.
    [[nodiscard]] std::chrono::nanoseconds newest() const { return counts_.back().when; }
    // Before the first count and behind the last as with that one; 0 without any.
    [[nodiscard]] double above(std::chrono::nanoseconds when) const;
    // Whether a count that was made at that time or later found no more than so many above.
    [[nodiscard]] bool has_fallen(std::chrono::nanoseconds since, double to) const;

    void forget_before(std::chrono::nanoseconds when);

  private:
    struct count {
        std::chrono::nanoseconds when{};
        double messages = 0;
    };
    [[nodiscard]] double above(const count& one) const noexcept { return one.messages - fewest_; }

    std::deque<count> counts_;
    double fewest_ = std::numeric_limits<double>::infinity();
};

}  // namespace postal::capacity
