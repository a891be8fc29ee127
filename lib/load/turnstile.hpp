// Says when a session may start its next piece of work: at once, when it is due, or never again.
//
// Flow, in the session:
//   ticket go = turnstile.try_pass(now);
//   if (go.what == pass::wait) go = co_await turnstile.wait(me);
//   if (go.what == pass::over) finish;
//   ... work that was due at go.due ...
//
// One turnstile a worker. Without a schedule a session passes at once, until the budget is used up
// or the run stops. With one, each pass takes the next due message; a session that comes early
// waits, those that hold a connection are served first. The schedule never waits for a server: what
// is due while every session is busy stays in it, and its wait is in its due time.
//
// A worker whose own means are exhausted (a ledger that falls behind) holds it shut for a while.
//
// How late a waiting session was let through is this side's doing and goes into tally().slip.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>

#include <chrono>
#include <optional>
#include <vector>

#include "load/budget.hpp"
#include "load/pace.hpp"
#include "load/worker.hpp"

namespace postal::load {

enum class pass { go, wait, over };

struct ticket {
    pass what = pass::over;
    steady_time due{};
};

class turnstile {
  public:
    turnstile(worker& own, std::optional<schedule> pace, budget& pot);

    // One session's place in the queue.
    class waiter : public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
      public:
        explicit waiter(worker& own) : wake_(own.context()) {}
        bool connected = false;

      private:
        friend class turnstile;
        boost::asio::steady_timer wake_;
        ticket got_;
    };

    ticket try_pass(steady_time now) noexcept;
    boost::asio::awaitable<ticket> wait(waiter& who);
    // For a ticket that is taken before there is a connection to use it on: hold() when it is got,
    // then either use() when the connection is there, or give_back(), and another session gets it;
    // when there is a schedule, one of the same worker, with its due time. While any ticket is held
    // nobody is sent home.
    void hold() noexcept { share_.hold(); }
    void use() noexcept { share_.release(); }
    void give_back(const ticket& unused);
    // This worker's servers do not answer: others may have its share of the budget.
    void give_share_back() noexcept { share_.put_back(0); }

    // Sleeps at most that long; returns early when the run stops.
    boost::asio::awaitable<void> pause(waiter& who, std::chrono::nanoseconds how_long);

    // Ends a pause early.
    void wake(waiter& who) { who.wake_.cancel(); }

    // Nobody is let through while it is held shut; the schedule goes on.
    void hold_shut(bool shut);

    // Whether nobody will be let through any more.
    bool over() const noexcept { return stopped_ || (used_up() && !share_.any_held()); }
    bool stopped() const noexcept { return stopped_; }

    // Lets all who wait go home.
    void stop() noexcept;

    // Messages that were due until `now` and that nobody has taken.
    std::uint64_t overdue(steady_time now) const;

  private:
    using queue = boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>>;

    // Nothing is left to take, unless a ticket comes back.
    bool used_up() const noexcept { return returned_.empty() && share_.empty(); }
    steady_time next_due() const noexcept;
    bool anyone_waits() const noexcept { return !connected_.empty() || !unconnected_.empty(); }
    void arm();
    void arm_anew() {
        armed_ = false;
        arm();
    }
    void serve();

    worker& own_;
    std::optional<schedule> pace_;
    budget_share share_;
    boost::asio::steady_timer alarm_;
    std::vector<steady_time> returned_;  // due times of tickets that were given back
    queue connected_;
    queue unconnected_;
    queue pausing_;
    bool armed_ = false;
    bool shut_ = false;
    bool stopped_ = false;
};

}  // namespace postal::load
