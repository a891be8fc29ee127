// SPDX-License-Identifier: GPL-3.0-or-later
// What the threads beside the workers did, and whether all of them were stopped.
#include "load/worker_pool.hpp"

#include <algorithm>

namespace postal::load {

using std::chrono::nanoseconds;

namespace {

// So often the main thread looks at itself.
constexpr auto own_period = std::chrono::milliseconds(100);

}  // namespace

void worker_pool::watch_own_time() {
    main_time_.begin();
    every(own_period, [this] { main_time_.look(std::chrono::steady_clock::now(), own_period); });
}

void worker_pool::add_own_times(stats::time_slice& to) {
    const steady_time now = std::chrono::steady_clock::now();
    main_time_.look(now, own_period);
    ledger_time_.look(now);
    to.main = main_time_.take();
    to.ledger = ledger_time_.take();
    to.machine = machine_.since_last();
    // Who had no processor because of a quota did not stand still.
    const std::chrono::duration<double> stopped = stopped_in(to);
    to.stopped_s = std::max(0.0, stopped.count() - to.machine.throttled_s.value_or(0));
}

// A stop holds all threads alike, and one may hear of it a time slice later than another. What
// holds one of them alone, such as a disk, is none.
nanoseconds worker_pool::stopped_in(const stats::time_slice& slice) {
    std::vector<nanoseconds> still;
    for (const stats::worker_time& one : slice.workers)
        still.push_back(one.still);
    still.push_back(slice.main.still);
    still_before_.resize(still.size());
    nanoseconds stopped = nanoseconds::max();
    for (std::size_t i = 0; i < still.size(); ++i)
        stopped = std::min(stopped, still_before_[i] + still[i]);
    for (std::size_t i = 0; i < still.size(); ++i)
        still_before_[i] = still[i] - std::max(nanoseconds(0), stopped - still_before_[i]);
    return stopped;
}

}  // namespace postal::load
