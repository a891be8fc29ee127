// SPDX-License-Identifier: GPL-3.0-or-later
// The last second of a run, of time slices that may be shorter: what is said of "the last second"
// on a terminal. A run's last slice, an interval's, or one that is longer, is as long as it is.
//
// Flow: where add() says that a second is whole, whole() has it until the next add(). Nothing here
// fails.
#pragma once

#include "stats/run_report.hpp"

#include <cstddef>

namespace postal::stats {

class last_second {
  public:
    explicit last_second(std::size_t phases) : phases_(phases), whole_(phases) {}

    bool add(const time_slice& next);
    [[nodiscard]] const time_slice& whole() const noexcept { return whole_; }

  private:
    std::size_t phases_;
    time_slice whole_;
    bool open_ = false;
};

}  // namespace postal::stats
