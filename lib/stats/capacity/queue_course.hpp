// How a mail server's queue stands during a search, of counts that come from time to time: messages
// above what waited there before the search, which is not the search's doing.
//
// Flow: note() each count as it becomes known, with when it was made; above() then is what waited
// at a time, on the line between the two counts around it. forget_before() what nobody asks about
// any more. Times are since the start of the run. Pure; nothing here fails.
#pragma once

#include <chrono>
#include <deque>

namespace postal::capacity {

class queue_course {
  public:
    // Ignored where it is not later than the one before.
    void note(std::chrono::nanoseconds when, double messages);

    [[nodiscard]] bool is_known() const noexcept { return !counts_.empty(); }
    // Never below 0. Before the first count and behind the last as with that one; 0 without any.
    [[nodiscard]] double above(std::chrono::nanoseconds when) const;
    // Whether a count that was made at that time or later found no more than so many above.
    [[nodiscard]] bool has_fallen(std::chrono::nanoseconds since, double to) const;

    void forget_before(std::chrono::nanoseconds when);

  private:
    struct count {
        std::chrono::nanoseconds when{};
        double above = 0;
    };
    std::deque<count> counts_;
    double before_ = 0;  // the search
    bool begun_ = false;
};

}  // namespace postal::capacity
