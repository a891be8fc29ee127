// SPDX-License-Identifier: GPL-3.0-or-later
// One thread of the worker pool: its event loop, its counts, and the sessions that live on it.
// Nothing begins before the run's start, which may lie ahead; a stop before it ends the worker.
//
// A session belongs to one worker for life. It counts into tally(), which nothing else writes; at
// the end of each time slice the worker hands it over and clears it, between two steps of its
// sessions. spawn() starts a session; the worker's loop ends when the last one has ended (or, for
// a server, when it was stopped and the last one has ended).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "load/reserved_memory.hpp"
#include "load/watched.hpp"
#include "os/thread_watch.hpp"
#include "stats/first_errors.hpp"
#include "stats/live_line.hpp"
#include "stats/tally.hpp"

namespace postal {
namespace asio = boost::asio;
}

namespace postal::load {

// What a worker shows to others while it runs; refreshed by its ticker.
struct gauges {
    std::atomic<std::uint64_t> messages{0};
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> appended{0};
    std::atomic<std::uint64_t> errors{0};
    std::atomic<std::uint64_t> open_connections{0};
    std::atomic<std::uint64_t> progress{0};  // a number that grows
    std::atomic<bool> heard{false};          // anything from any peer
    std::atomic<std::uint64_t> waiting{0};   // sessions, for a peer that has only so much time
    std::array<std::atomic<std::uint64_t>, stats::most_session_states>
        sessions{};  // by their state
};

// The ends of the time slices, in steady-clock time; the worker pool computes it, workers follow
// it.
struct timetable {
    steady_time start;
    std::chrono::nanoseconds first_interval{0};
    std::chrono::nanoseconds interval{0};
    std::chrono::nanoseconds warmup{0};
    std::chrono::nanoseconds duration{0};  // 0: no end known
    // So often a time slice ends within an interval; 0: intervals are whole.
    std::chrono::nanoseconds slice{0};

    // Where the interval begins that goes on then.
    std::chrono::nanoseconds interval_begin(std::chrono::nanoseconds when) const noexcept;
    // The last end of a time slice then or before, 0 before the first.
    std::chrono::nanoseconds last_cut(std::chrono::nanoseconds when) const noexcept;
    // The first end of a time slice after `after` (both since the start). The end of the run itself
    // is none: what is in flight then still belongs to the last time slice.
    std::chrono::nanoseconds next_cut(std::chrono::nanoseconds after) const noexcept;
    bool ends_interval(std::chrono::nanoseconds cut) const noexcept;
};

class worker {
  public:
    struct settings {
        unsigned index = 0;
        unsigned of = 1;
        std::size_t phases = 0;
        bool serves = false;  // stays without sessions until it is stopped
    };
    // Called in the worker's thread with what it counted until that time since the start.
    using deposit = std::function<void(worker&, std::chrono::nanoseconds until, const stats::tally&,
                                       bool last)>;

    // Called, in the worker's thread too, when a session has ended with an exception.
    using alarm = std::function<void()>;
    // Called, in the worker's thread too, with the first error of each kind, as soon as it is
    // counted.
    using news = std::function<void(stats::first_error)>;

    worker(
        settings wanted, deposit where_to, alarm failed = [] {}, news told = {});

    // Runs the loop in the calling thread: calls `begin` at the start, which spawns the first
    // sessions, and returns when all have ended.
    void run(const timetable& times, const std::function<void(worker&)>& begin);

    unsigned index() const noexcept { return settings_.index; }
    unsigned of() const noexcept { return settings_.of; }
    asio::io_context& context() noexcept { return context_; }
    steady_time start() const noexcept { return times_.start; }
    // max() where the run has no duration.
    steady_time planned_end() const noexcept {
        return times_.duration.count() > 0 ? times_.start + times_.duration : steady_time::max();
    }
    // How long after the start it began; empty before that. From any thread.
    std::optional<std::chrono::nanoseconds> began_late() const noexcept {
        const auto late = began_late_.load(std::memory_order_relaxed);
        return late < 0 ? std::nullopt : std::optional(std::chrono::nanoseconds(late));
    }
    stats::tally& tally() noexcept { return tally_; }
    std::uint64_t open_connections() const noexcept { return open_connections_; }
    void connection_opened() noexcept;
    void connection_closed() noexcept;
    // A peer did something for us; a run in which none does may be given up.
    void made_progress() noexcept { ++progress_; }
    // A peer said anything at all.
    void heard_somebody() noexcept { heard_ = true; }
    gauges& shown() noexcept { return gauges_; }

    // Look-ups of names that are not answered yet. None can be interrupted, and a thread of the
    // loop's own is at it.
    void lookup_began() noexcept { ++lookups_; }
    void lookup_ended() noexcept { --lookups_; }
    // Not while it runs, but in its own thread.
    bool looks_up() const noexcept { return lookups_ > 0; }

    void spawn(asio::awaitable<void> session);
    void watch(watched& one) { watched_.push_back(one); }

    // From any thread, before it begins.
    void begin_trial(const trial& next);

    // From any thread. What was counted until `when`, since the start, is a time slice of its own.
    void stop(stop_kind how, std::chrono::nanoseconds when = {});
    // In the worker's own thread.
    bool stopping() const noexcept { return stopping_; }
    // Of the first stop, which may have been heard of a while later.
    steady_time stopped_at() const noexcept { return stopped_at_; }

    // Why a session ended with an exception: a defect, told to main.
    const std::optional<std::string>& failure() const noexcept { return failure_; }

  private:
    void begin_run(const std::function<void(worker&)>& begin);
    void session_ended(std::exception_ptr problem);
    void finish();
    void tick();
    void note_lateness(steady_time now);
    void show_states() noexcept;
    void count_connected(steady_time until) noexcept;
    void arm_ticker();
    void arm_cut();
    void cut(std::chrono::nanoseconds until, bool last = false);
    void on_stop(stop_kind how, std::chrono::nanoseconds when);
    void on_new_error(const stats::error_entry& what, std::string_view peer);

    settings settings_;
    deposit deposit_;
    alarm failed_;
    news told_of_;
    stats::first_errors errors_seen_;
    timetable times_;
    reserved_memory tick_memory_;
    unsigned ticks_ = 0;
    asio::io_context context_;
    asio::steady_timer starter_;
    asio::steady_timer ticker_;
    asio::steady_timer cutter_;
    watch_list watched_;
    stats::tally tally_;
    gauges gauges_;
    std::atomic<std::chrono::nanoseconds::rep> began_late_{-1};
    // Counted in the time slices that were handed over.
    std::uint64_t messages_before_ = 0;
    std::uint64_t started_before_ = 0;
    std::uint64_t appended_before_ = 0;
    std::uint64_t errors_before_ = 0;
    std::uint64_t open_connections_ = 0;
    steady_time connected_until_{};  // their time is counted
    std::uint64_t progress_ = 0;
    bool heard_ = false;
    std::uint64_t active_ = 0;
    std::uint64_t lookups_ = 0;
    std::chrono::nanoseconds last_cut_{0};
    std::chrono::nanoseconds cut_at_{0};
    bool told_ = false;  // to stop, in whatever way
    steady_time stopped_at_{};
    os::thread_watch own_time_;
    bool stopping_ = false;
    bool finished_ = false;
    std::optional<std::string> failure_;
};

}  // namespace postal::load
