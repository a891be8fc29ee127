// SPDX-License-Identifier: GPL-3.0-or-later
// The one clock of a simulated run, and who is to act when.
//
// Nothing waits: time is what the next to act was due at. Who acts at the same moment does so in
// the order in which that was asked for, so that equal seeds make equal runs. An actor has one
// place in the line, the earliest that it asked for since it last acted; when it acts it looks at
// everything that it waits for and asks anew.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <queue>
#include <stdexcept>
#include <vector>

#include "load/watched.hpp"

namespace simulation {

using postal::load::steady_time;
using std::chrono::nanoseconds;

class actor {
  public:
    actor() = default;
    actor(const actor&) = delete;
    actor& operator=(const actor&) = delete;
    virtual ~actor() = default;

    virtual void act() = 0;

  private:
    friend class timeline;
    steady_time due_ = steady_time::max();
};

// Somebody acts for ever without waiting for anything.
struct going_round : std::runtime_error {
    going_round() : std::runtime_error("it goes round in circles") {}
};

class timeline {
  public:
    // An hour after the clock's own beginning, so that nothing of it is taken for "never".
    [[nodiscard]] static steady_time start() noexcept { return steady_time(std::chrono::hours(1)); }

    [[nodiscard]] steady_time now() const noexcept { return now_; }
    [[nodiscard]] nanoseconds since_start() const noexcept { return now_ - start(); }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    // It outlives the line.
    void wake(actor& who, steady_time when) {
        when = std::max(when, now_);
        if (when >= who.due_) return;
        who.due_ = when;
        line_.push({when, order_++, &who});
    }
    void wake(actor& who) { wake(who, now_); }

    // Whoever does one thing after the other in one act says so with each.
    void exert() {
        constexpr unsigned most = 100'000;
        if (++exertions_ > most) throw going_round();
    }

    // The next one acts; false when nobody waits any more.
    bool step() {
        exertions_ = 0;
        while (!line_.empty()) {
            const place next = line_.top();
            line_.pop();
            if (next.when != next.who->due_) continue;  // it asked for an earlier one, and had it
            now_ = next.when;
            next.who->due_ = steady_time::max();
            ++steps_;
            next.who->act();
            return true;
        }
        return false;
    }

  private:
    struct place {
        steady_time when;
        std::uint64_t order;
        actor* who;

        bool operator<(const place& other) const noexcept {
            return when != other.when ? when > other.when : order > other.order;
        }
    };

    std::priority_queue<place> line_;
    steady_time now_ = start();
    std::uint64_t order_ = 0;
    std::uint64_t steps_ = 0;
    unsigned exertions_ = 0;
};

// The wall's clock, which goes as the steady one does.
[[nodiscard]] inline nanoseconds since_epoch(steady_time when) noexcept {
    return when.time_since_epoch() + std::chrono::hours(24 * 365 * 50);
}
[[nodiscard]] inline std::uint64_t wall_us(steady_time when) noexcept {
    return static_cast<std::uint64_t>(since_epoch(when).count()) / 1000;
}

}  // namespace simulation
