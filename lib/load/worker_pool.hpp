// SPDX-License-Identifier: GPL-3.0-or-later
// The worker threads of a run as one: started together, cut into time slices together, stopped
// together.
//
// Flow:
//   worker_pool workers(plan);
//   workers.on_signal(hook), workers.every(period, what);    where somebody else has a say in it
//   workers.run(begin, watcher);    blocks in the calling (main) thread until the run is over
// `begin` is called in each worker's thread to spawn its sessions. The main thread waits for
// signals, the end of the duration, and the workers' counts; for each time slice it calls
// watcher.on_time_slice() with the merged counts of all workers, in order, on_live() twice a
// second, and on_first_error() as soon as it can.
//
// Workers begin at `start_at`, or at once; what is measured is measured from there. A stop before
// it ends the run without a time slice.
// The run ends when all sessions have ended, at the end of the duration, with SIGINT or SIGTERM, or
// when it is given up: sessions then finish what is in flight, for at most `grace`; a second signal
// ends them at once.
// The interval that goes on ends at that moment; what is finished later is in time slices of their
// own, which are `draining`.
// Those that come later are held for as long as the pool lives: until what it counted is written.
// A session that ends with an exception, which is a defect of ours or want of memory, ends the run
// at once, and it fails. One in a thread's own loop ends the process (std::terminate).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "load/signal_watch.hpp"
#include "load/worker.hpp"
#include "os/machine_time.hpp"
#include "os/thread_watch.hpp"
#include "stats/live_line.hpp"
#include "stats/run_ending.hpp"
#include "stats/run_report.hpp"

namespace postal::load {

struct worker_pool_plan {
    unsigned workers = 1;
    std::size_t phases = 0;
    bool serves = false;        // a server: runs without sessions until it is stopped
    bool finishes_due = false;  // an open loop: what is due at the end is begun, within the grace
    bool bounded = false;       // it ends by itself, also without a duration
    std::optional<steady_time> start_at{};  // one that is over: at once, and late by that much
    std::chrono::nanoseconds interval = std::chrono::minutes(1);
    bool align_minutes = false;
    std::optional<std::chrono::nanoseconds> first_interval{};  // that somebody else has aligned
    // So often what was counted is handed on; 0: by intervals.
    std::chrono::nanoseconds slice = std::chrono::seconds(1);
    std::chrono::nanoseconds warmup{0};
    std::chrono::nanoseconds duration{0};  // 0: without end
    std::chrono::nanoseconds grace = std::chrono::seconds(10);
    // End when for so long peers were waited for or failed, and none did anything for us; 0: never.
    std::chrono::nanoseconds give_up{0};
};

// When time slices end in a run that starts then.
timetable timetable_of(const worker_pool_plan& plan, steady_time start,
                       std::chrono::system_clock::time_point started) noexcept;

using stats::run_ending;

// Begun by a signal.
struct interruption {
    int signal = 0;  // 0: heard of from somebody else
    std::chrono::nanoseconds at{0};
    bool early = false;      // the run has an end of its own
    bool cut_short = false;  // what was in flight
};

class run_watcher {
  public:
    virtual ~run_watcher() = default;
    virtual void on_time_slice(const stats::time_slice& time_slice) = 0;
    virtual void on_live(const stats::live_state& state) = 0;
    virtual void on_gave_up() {}
    // A kind of error that was new to a worker: several may have met the same.
    virtual void on_first_error(const stats::first_error&) {}
    // A signal ends the run: sessions, whose connections are open, have so long to finish.
    virtual void on_interrupt(const stats::live_state& /*now*/,
                              std::chrono::nanoseconds /*grace*/) {}
    // Which was too short for them, or a second signal came.
    virtual void on_cut_short() {}
};

class worker_pool {
  public:
    explicit worker_pool(worker_pool_plan plan);
    ~worker_pool();

    base::expected<void> run(const std::function<void(worker&)>& begin, run_watcher& watcher);

    worker& at(std::size_t index) noexcept { return *workers_[index]; }
    std::size_t size() const noexcept { return workers_.size(); }
    // The start and the wall-clock time of it; valid from run() on.
    const timetable& times() const noexcept { return times_; }
    std::chrono::system_clock::time_point started() const noexcept { return started_; }
    // How long the run was; valid after run().
    std::chrono::nanoseconds lasted() const noexcept { return lasted_; }
    // A look-up of a name was left behind by who wanted to know: the destructor waits for it.
    bool looks_up() const noexcept;
    // Sessions have been told to end.
    bool stopping() const noexcept { return stopped_at_.has_value(); }
    run_ending ended_by() const noexcept { return ended_by_; }
    const std::optional<interruption>& interrupted() const noexcept { return interrupted_; }

    // How late the last of the workers began, empty before that; from any thread.
    std::optional<std::chrono::nanoseconds> start_late() const noexcept;

    // Ends the run as a signal would, from any thread: for a failure that all must hear of.
    void stop(stop_kind how);
    // The same as of `when`, since the start, for that reason; not as of a time to come.
    void stop(stop_kind how, run_ending why, std::chrono::nanoseconds when);

    // In the main thread, while the run goes on.
    void begin_trial(const trial& next);

    // After run(): signals are heard, and every() and on_live() go on, until it is so.
    void linger(const std::function<bool()>& done);

    // Both before run(); called in the main thread.
    // Sees SIGINT, SIGTERM and SIGUSR1, which is not caught without it; true: stop as with SIGINT.
    void on_signal(std::function<bool(int)> hook);
    // The thread that writes a ledger is judged with the workers. Before run().
    void watch_ledger(pid_t thread) { ledger_time_ = os::thread_watch::of(thread); }
    // While the run goes on, and before its start.
    void every(std::chrono::nanoseconds period, std::function<void()> what);

  private:
    struct repetition {
        asio::steady_timer timer;
        std::chrono::nanoseconds period;
        std::function<void()> what;
    };

    void plan_times();
    void run_threads(const std::function<void(worker&)>& begin) noexcept;
    void wait_for_start();
    void on_signal(int signal);
    void turn(std::chrono::nanoseconds longest);
    void repeat(repetition& one);
    std::chrono::nanoseconds since_start() const noexcept;
    void stop(stop_kind how, run_ending why);
    void end(stop_kind how, std::chrono::nanoseconds when, run_ending why);
    void note_interrupt(stop_kind how, std::chrono::nanoseconds when);
    stats::live_state live_state() const;
    void show_live();
    void look_for_progress(std::chrono::nanoseconds now, std::uint64_t errors);
    void take(const worker& from, std::chrono::nanoseconds until, const stats::tally& counts,
              bool last);
    void hand_on();
    std::chrono::nanoseconds next_boundary() const noexcept;
    bool all_have_counted_until(std::chrono::nanoseconds when) const noexcept;
    std::optional<stats::time_slice> take_complete(bool& final);
    void hand_on(stats::time_slice& time_slice, bool final);
    void watch_own_time();
    void add_own_times(stats::time_slice& to);
    std::chrono::nanoseconds stopped_in(const stats::time_slice& slice);

    worker_pool_plan plan_;
    asio::io_context main_;
    signal_watch signals_;
    std::function<bool(int)> hook_;
    std::list<repetition> repeated_;
    asio::steady_timer start_;
    asio::steady_timer duration_end_;
    asio::steady_timer grace_end_;
    asio::steady_timer live_;
    timetable times_;
    std::chrono::system_clock::time_point started_;
    std::chrono::nanoseconds lasted_{0};
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::thread> threads_;
    run_watcher* watcher_ = nullptr;
    std::uint64_t messages_shown_ = 0;
    // Since when nothing but waits and failures was seen, and when the last of these.
    std::optional<std::chrono::nanoseconds> stuck_since_;
    std::chrono::nanoseconds last_tried_{0};
    std::uint64_t progress_seen_ = 0;
    std::uint64_t errors_seen_ = 0;
    run_ending ended_by_ = run_ending::complete;
    int last_signal_ = 0;
    std::optional<interruption> interrupted_;
    std::optional<std::chrono::nanoseconds> stopped_at_;
    std::chrono::nanoseconds handed_on_until_{0};
    std::chrono::nanoseconds interval_start_{0};
    os::machine_watch machine_;
    os::thread_watch main_time_;
    os::thread_watch ledger_time_;
    std::vector<std::chrono::nanoseconds> still_before_;  // not explained by then; see stopped_in()

    std::mutex mutex_;  // guards what follows: workers deposit at the end of each time slice
    std::map<std::chrono::nanoseconds, stats::time_slice> slices_;  // by where they begin
    std::vector<std::chrono::nanoseconds> counted_until_;  // by worker; max() when it has ended
};

}  // namespace postal::load
