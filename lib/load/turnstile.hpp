// SPDX-License-Identifier: GPL-3.0-or-later
// Says when a session may start its next piece of work: at once, when it is due, or never again.
//
// Flow, in the session:
//   ticket go = turnstile.try_pass(now);
//   if (go.what == pass::wait) go = co_await turnstile.wait(me);
//   if (go.what == pass::over) finish;
//   turnstile.use();              or give_back(go), when there is no connection to use it on
//   ... work that was due at go.due, or of several messages at each one's own time ...
//
// One turnstile a worker. The rules are those of load/admission.hpp; here are the clock and the
// timers: a session that waits sleeps on its own, and one alarm wakes those whose turn it is.
//
// A worker whose own means are exhausted (a ledger that falls behind) holds it shut for a while.
//
// How late a waiting session was let through is this side's doing and goes into tally().slip.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>

#include "load/admission.hpp"
#include "load/worker.hpp"

namespace postal::load {

class turnstile {
  public:
    turnstile(worker& own, run_tickets& stock, pacing how);

    // One session's place in the queue.
    class waiter : public admission::place {
      public:
        explicit waiter(worker& own) : wake_(own.context()) {}

      private:
        friend class turnstile;
        // A steady_timer that knows its executor: a hundred octets less while it is waited for.
        asio::basic_waitable_timer<std::chrono::steady_clock,
                                   asio::wait_traits<std::chrono::steady_clock>,
                                   asio::io_context::executor_type>
            wake_;
    };

    ticket try_pass(steady_time now, std::uint64_t wanted = 1) {
        ticket got = rules_.try_pass(now, wanted);
        if (got.from_schedule) own_.tally().all_busy += rules_.take_busy_time();
        return got;
    }
    asio::awaitable<ticket> wait(waiter& who);  // who.wanted: so many messages

    // Each ticket that a session got ends in one of the two: it has begun, or another session of
    // the run, in whatever worker, shall begin it, with its due time.
    void use(std::uint64_t messages = 1) noexcept {
        rules_.use(messages);
        if (rules_.has_schedule()) own_.tally().due += messages;
    }
    void give_back(const ticket& unused);

    // Sleeps at most that long; returns early when the run stops.
    asio::awaitable<void> pause(waiter& who, std::chrono::nanoseconds how_long);
    // Between two pieces of work: returns early also when there are no tickets any more.
    asio::awaitable<void> rest(waiter& who, std::chrono::nanoseconds how_long);

    // Ends a pause early.
    void wake(waiter& who) { who.wake_.cancel(); }

    // Nobody is let through while it is held shut; the schedule goes on.
    void hold_shut(bool shut);

    // Whether nobody will be let through any more.
    bool over() const noexcept { return rules_.over(); }

    // The schedule goes on: see rate_curve.
    void extend(std::chrono::nanoseconds at, std::chrono::nanoseconds lasts, double messages);

    // What is due by now and has not begun never will: it is counted as not started.
    void drop_due();

    // Nothing is due any more but what is by now.
    void finish_due();
    // Lets all who wait go home.
    void stop();

  private:
    asio::awaitable<void> sleep(waiter& who, steady_time until);
    void never_begun(std::uint64_t messages) noexcept;
    void never_begun(const ticket& unused);
    void arm();
    void serve();

    worker& own_;
    admission rules_;
    asio::steady_timer alarm_;
    steady_time armed_for_ = steady_time::max();
};

}  // namespace postal::load
