// SPDX-License-Identifier: GPL-3.0-or-later
// Deadlines and stops: what a session lets its worker do to it.
//
// A session is `watched` while it lives. It moves its one deadline forward at each phase; the
// worker's ticker, ten times a second, calls on_deadline() on those whose deadline has passed, and
// on_stop() on all when the run is to end. Neither may suspend; both cancel what the session waits
// for. No timer object exists for a single operation.
#pragma once

#include <boost/intrusive/list.hpp>

#include "load/trial.hpp"

#include <chrono>
#include <cstddef>
#include <optional>

namespace postal::load {

using steady_time = std::chrono::steady_clock::time_point;

enum class stop_kind {
    finish_due,  // of an open loop: begin what is due by now, and nothing else
    gently,      // finish what is in flight
    now          // end at once
};

class watched : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  public:
    watched() = default;
    watched(const watched&) = delete;
    watched& operator=(const watched&) = delete;
    virtual ~watched() = default;

    virtual void on_deadline() = 0;
    virtual void on_stop(stop_kind how) = 0;
    // The next trial of a search begins, soon, or the one that goes on ends.
    virtual void on_trial(const trial& /*next*/) {}
    // What it is at, by stats::run_description::session_states; nothing of what is no session.
    // Asked for by the ticker, now and then.
    virtual std::optional<std::size_t> session_state() const noexcept { return std::nullopt; }

    void set_deadline(steady_time when) noexcept { deadline_ = when; }
    void clear_deadline() noexcept { deadline_ = steady_time::max(); }
    steady_time deadline() const noexcept { return deadline_; }

  private:
    steady_time deadline_ = steady_time::max();
};

using watch_list = boost::intrusive::list<watched, boost::intrusive::constant_time_size<false>>;

}  // namespace postal::load
