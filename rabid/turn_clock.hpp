// SPDX-License-Identifier: GPL-3.0-or-later
// How long each message took of those that were asked for at once: from the end of the one before
// it, which was the server's turn for it, to its own.
//
// A clock sees reads of a connection, and several replies may end in one. When the server was done
// with each of those nobody here knows, so they share the time since a reply ended last.
#pragma once

#include <chrono>

#include "load/worker.hpp"
#include "stats/histogram.hpp"

namespace postal::rabid {

class turn_clock {
  public:
    // The first is asked for.
    void begin(load::steady_time now) noexcept { since_ = now; }

    void message_ended() noexcept { ++messages_; }
    void refusal_ended() noexcept { ++refusals_; }  // has its turn, and no time of a message

    // Behind what was taken of one read, with the time of that read.
    void read_ended(load::steady_time now, stats::histogram& times) noexcept {
        const unsigned replies = messages_ + refusals_;
        if (replies == 0) return;
        const std::chrono::nanoseconds share = (now - since_) / replies;
        for (; messages_ > 0; --messages_)
            times.record(share);
        refusals_ = 0;
        since_ = now;
    }

    // So long the reply in hand was waited for.
    std::chrono::nanoseconds waited(load::steady_time now) const noexcept { return now - since_; }

  private:
    load::steady_time since_{};
    unsigned messages_ = 0;  // that ended in this read
    unsigned refusals_ = 0;
};

}  // namespace postal::rabid
