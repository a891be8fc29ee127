// The worker threads of a run as one: started together, cut into time slices together, stopped
// together.
//
// Flow:
//   worker_pool workers(plan);
//   workers.run(begin, watcher);    blocks in the calling (main) thread until the run is over
// `begin` is called in each worker's thread to spawn its sessions. The main thread waits for
// signals, the end of the duration, and the workers' counts; for each time slice it calls
// watcher.on_time_slice() with the merged counts of all workers, in order, and on_live() twice a
// second.
//
// The run ends when all sessions have ended, at the end of the duration, or with SIGINT or SIGTERM:
// sessions then finish what is in flight, for at most `grace`; a second signal ends them at once.
// It fails when a session ended with an exception, which is a defect of ours.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "load/worker.hpp"
#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::load {

struct worker_pool_plan {
    unsigned workers = 1;
    std::size_t phases = 0;
    bool serves = false;  // a server: runs without sessions until it is stopped
    std::chrono::nanoseconds interval = std::chrono::minutes(1);
    bool align_minutes = false;
    std::chrono::nanoseconds warmup{0};
    std::chrono::nanoseconds duration{0};  // 0: without end
    std::chrono::nanoseconds grace = std::chrono::seconds(10);
};

class run_watcher {
  public:
    virtual ~run_watcher() = default;
    virtual void on_time_slice(const stats::time_slice& time_slice) = 0;
    virtual void on_live(const stats::live_state& state) = 0;
};

class worker_pool {
  public:
    explicit worker_pool(worker_pool_plan plan);
    ~worker_pool();

    base::expected<void> run(const std::function<void(worker&)>& begin, run_watcher& watcher);

    worker& at(std::size_t index) noexcept { return *workers_[index]; }
    std::size_t size() const noexcept { return workers_.size(); }
    // Wall-clock time of the start; valid from run() on.
    std::chrono::system_clock::time_point started() const noexcept { return started_; }
    // How long the run was; valid after run().
    std::chrono::nanoseconds lasted() const noexcept { return lasted_; }

    // Ends the run as a signal would, from any thread: for a failure that all must hear of.
    void stop(stop_kind how);

  private:
    struct collected {
        explicit collected(std::size_t phases) : time_slice(phases) {}
        stats::time_slice time_slice;
        std::size_t contributions = 0;
    };

    void plan_times();
    void wait_for_signal();
    void end_gently();
    void end_now();
    void show_live();
    void take(const worker& from, std::size_t time_slice, const stats::tally& counts, bool last);
    void hand_on();
    std::optional<stats::time_slice> take_complete(bool& final);
    void hand_on(stats::time_slice& time_slice, bool final);
    void all_ended();

    worker_pool_plan plan_;
    boost::asio::io_context main_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer duration_end_;
    boost::asio::steady_timer grace_end_;
    boost::asio::steady_timer live_;
    timetable times_;
    std::chrono::system_clock::time_point started_;
    std::chrono::nanoseconds lasted_{0};
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::thread> threads_;
    run_watcher* watcher_ = nullptr;
    bool ending_ = false;
    std::uint64_t messages_shown_ = 0;
    std::chrono::nanoseconds handed_on_until_{0};
    std::chrono::nanoseconds interval_start_{0};

    std::mutex mutex_;  // guards what follows: workers deposit at the end of each time slice
    std::map<std::size_t, collected> slices_;
    std::size_t next_slice_ = 0;
    std::vector<std::size_t> ended_after_;  // for each worker that has ended, its last time slice
};

}  // namespace postal::load
