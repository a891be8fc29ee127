// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of who may begin and when, for the sessions of one worker: as functions of the time
// that is handed in. Nothing here reads a clock, waits or wakes anybody; load/turnstile.hpp does.
//
// Without a schedule a session passes at once, until all tickets are used or the run stops. With
// one, each pass takes the next due ticket of the run; a ticket that came back goes first, with the
// due time that it had. A rank of a run has the due times of the numbers that are its own. Who
// wants several tickets passes when the last of them is due, so that nothing is begun before its
// time; each keeps its own due time. Fewer are waited for only where no more will ever be due.
//
// An open loop's schedule never waits for a server: what is due while every session is busy stays
// in it, and its wait is in its due time. In a closed loop the rate is a cap: what could not be
// sent meanwhile is made up for at once only as far as it was due in the last second; the rest of
// the schedule is put off by as many messages as that leaves out.
//
// Who waits is let through in turn: those that hold a connection before the others, and the one
// that waited last before the rest, since its connection is the warmest.
#pragma once

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "load/due_times.hpp"
#include "load/pace.hpp"
#include "load/run_share.hpp"
#include "load/run_tickets.hpp"
#include "load/watched.hpp"
#include "stats/histogram.hpp"

namespace postal::load {

enum class pass { go, wait, over };

struct ticket {
    pass what = pass::over;
    // go: when it was due, the last of its messages; wait: when it may go, max() if not known
    steady_time due{};
    bool from_schedule = false;  // fresh: not without a schedule, and not one that came back
    std::uint64_t messages = 1;  // that it admits
    due_times each{};            // of a schedule: when each of them was due
};

// What a worker is asked to do; an open loop counts what was due and cannot begin any more.
struct pacing {
    std::optional<schedule> when;  // of the whole run
    bool open_loop = false;
    run_share part{};  // whose numbers the stock's tickets have
    // The run's end, where it is known: what is due then or later is none of it.
    steady_time until = steady_time::max();
};

class admission {
  public:
    // `start` is the run's, from which due times count.
    admission(run_tickets& stock, steady_time start, pacing how);

    // How often those who wait look for what other workers do: tickets that come back, the last
    // use.
    static constexpr auto look_again = std::chrono::milliseconds(50);
    static constexpr auto made_up_for = std::chrono::seconds(1);

    // One session's place in the queue.
    class place : public boost::intrusive::list_base_hook<
                      boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
      public:
        bool connected = false;
        std::uint64_t wanted = 1;  // messages
        ticket got;                // when it is let through
    };

    // For a session that was busy until now, and wants to begin so many messages together.
    ticket try_pass(steady_time now, std::uint64_t wanted = 1);

    // For nobody: one that is due by now, of a schedule. What sessions have that was due by then,
    // and give back later, is nobody's either.
    ticket take_late(steady_time now) {
        late_ = now;
        return stopped_ || !how_.when ? ticket{} : take_due(now, 1, false);
    }

    // Each ticket that was taken ends in one of the two. False where messages of an open loop can
    // never begin, because the run has stopped or was told so of what was due (take_late()).
    void use(std::uint64_t messages = 1) noexcept { stock_.use(share_, messages); }
    bool open_loop() const noexcept { return how_.open_loop; }
    bool has_schedule() const noexcept { return how_.when.has_value(); }
    bool give_back(const ticket& unused);

    // Until there is a ticket, or there will be none.
    void wait(place& who) noexcept { (who.connected ? connected_ : unconnected_).push_front(who); }
    // As long as the caller likes; rests end when there will be no ticket any more, pauses when the
    // run stops.
    void rest(place& who) noexcept { resting_.push_back(who); }
    void pause(place& who) noexcept { pausing_.push_back(who); }

    // The next whose wait, rest or pause is over, taken from the queue; null when there is none.
    place* let_through(steady_time now);
    // When to ask that again; steady_time::max() while nobody waits.
    steady_time look_at(steady_time now) noexcept;

    // Nobody is let through while it is held shut; the schedule goes on.
    void hold_shut(bool shut) noexcept { shut_ = shut; }

    // The schedule goes on: see rate_curve.
    void extend(std::chrono::nanoseconds at, std::chrono::nanoseconds lasts, double messages) {
        if (how_.when) how_.when->extend(at, lasts, messages);
    }

    // Of an open loop: the run has no more tickets than were due before now.
    void finish_due(steady_time now);

    // The run stops. Gives how many of an open loop's were due and never taken, once for the run,
    // and records how long each of them had waited.
    std::uint64_t stop(steady_time now, stats::histogram& waited);
    bool stopped() const noexcept { return stopped_; }

    // Since the last call: how long messages of a cap were due and no session was free for them.
    std::chrono::nanoseconds take_busy_time() noexcept { return std::exchange(busy_time_, {}); }

    // Whether nobody will be let through any more.
    bool over() const noexcept { return stopped_ || stock_.all_used(); }

  private:
    using queue = boost::intrusive::list<place, boost::intrusive::constant_time_size<false>>;

    // `number`: of a ticket of the stock.
    steady_time due(std::uint64_t number) noexcept;
    // Those from a number on that begin together, and when the last of them is due.
    struct group {
        std::uint64_t first = 0;
        std::uint64_t messages = 1;
        steady_time last{};
    };
    group group_from(std::uint64_t number, std::uint64_t wanted) noexcept;
    due_times due_at_most_so_late(const group& these, steady_time now);
    ticket take_due(steady_time now, std::uint64_t wanted, bool was_busy);
    ticket admit(steady_time now, std::uint64_t wanted, bool was_busy);
    std::uint64_t wanted_next() const noexcept;
    bool is_cap() const noexcept { return how_.when && !how_.open_loop; }
    ticket none_now() const noexcept {
        return {over() ? pass::over : pass::wait, steady_time::max()};
    }
    bool anyone_waits() const noexcept { return !connected_.empty() || !unconnected_.empty(); }
    place* dismiss() noexcept;

    run_tickets& stock_;
    run_tickets::share share_;
    steady_time start_;
    pacing how_;
    queue connected_;
    queue unconnected_;
    queue resting_;
    queue pausing_;
    std::chrono::nanoseconds busy_time_{0};
    std::uint64_t wanted_last_ = 1;          // by who asked last
    steady_time late_ = steady_time::min();  // what was due by then is not begun any more
    bool shut_ = false;
    bool stopped_ = false;
};

}  // namespace postal::load
