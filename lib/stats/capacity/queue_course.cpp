// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/capacity/queue_course.hpp"

#include <algorithm>

namespace postal::capacity {

using std::chrono::nanoseconds;

void queue_course::note(nanoseconds when, double messages) {
    if (!counts_.empty() && when <= counts_.back().when) return;
    fewest_ = std::min(fewest_, messages);
    counts_.push_back({when, messages});
}

double queue_course::above(nanoseconds when) const {
    if (counts_.empty()) return 0;
    const auto after = std::find_if(counts_.begin(), counts_.end(),
                                    [&](const count& one) { return one.when >= when; });
    if (after == counts_.end()) return above(counts_.back());
    if (after == counts_.begin()) return above(*after);
    const count& from = *std::prev(after);
    const double share = std::chrono::duration<double>(when - from.when) /
                         std::chrono::duration<double>(after->when - from.when);
    return above(from) + share * (after->messages - from.messages);
}

bool queue_course::has_fallen(nanoseconds since, double to) const {
    return !counts_.empty() && counts_.back().when >= since && above(counts_.back()) <= to;
}

// The last one before that time stays, for what lies between.
void queue_course::forget_before(nanoseconds when) {
    while (counts_.size() > 1 && counts_[1].when <= when)
        counts_.pop_front();
}

}  // namespace postal::capacity
