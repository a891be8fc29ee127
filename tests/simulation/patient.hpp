// SPDX-License-Identifier: GPL-3.0-or-later
// What a session of a server waits for, since when and until when.
#pragma once

#include <cstdint>

#include "timeline.hpp"

namespace simulation {

class patient {
  public:
    enum class waiting : std::uint8_t { nothing, octets, room, its_time, answers };

    patient(timeline& time, actor& who) : time_(time), who_(who) {}

    [[nodiscard]] waiting waits_for() const noexcept { return what_; }
    [[nodiscard]] bool waits_for(waiting what) const noexcept { return what_ == what; }
    [[nodiscard]] steady_time since() const noexcept { return since_; }
    [[nodiscard]] steady_time deadline() const noexcept { return deadline_; }
    [[nodiscard]] bool in_time() const noexcept { return time_.now() < deadline_; }

    // Whoever waits for the same thing already has no more time for it. False: its time is over.
    bool wait(waiting what, steady_time until) {
        if (what_ != what) {
            what_ = what;
            since_ = time_.now();
            deadline_ = until;
        }
        if (deadline_ != steady_time::max()) time_.wake(who_, deadline_);
        return in_time();
    }
    // What was waited for is there; the deadline stays for whoever goes on waiting within it.
    void have(waiting what) noexcept {
        if (what_ != what) return;
        if (what == waiting::octets) since_ = time_.now();
        what_ = waiting::nothing;
    }
    void move_deadline(steady_time until) noexcept { deadline_ = until; }
    // The same wait goes on, with the deadline that it had.
    void go_on(waiting what) noexcept { what_ = what; }

  private:
    timeline& time_;
    actor& who_;
    waiting what_ = waiting::nothing;
    steady_time since_{};
    steady_time deadline_ = steady_time::max();
};

}  // namespace simulation
