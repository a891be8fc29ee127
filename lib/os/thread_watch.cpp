// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/thread_watch.hpp"

#include <algorithm>
#include <utility>

namespace postal::os {

using std::chrono::nanoseconds;

void thread_watch::begin(time_point now) {
    *this = {};
    waited_ = run_delay_meter::of_this_thread();
    looked_ = now;
    used_before_ = used();
    waited_before_ = waited_.read();
}

thread_watch thread_watch::of(pid_t thread) {
    thread_watch made;
    made.other_ = thread;
    made.waited_ = run_delay_meter::of(thread);
    made.looked_ = std::chrono::steady_clock::now();
    made.used_before_ = made.used();
    made.waited_before_ = made.waited_.read();
    return made;
}

std::optional<nanoseconds> thread_watch::used() const noexcept {
    return other_ ? thread_cpu_time(*other_) : thread_cpu_time();
}

void thread_watch::look(time_point now, std::optional<nanoseconds> asleep) noexcept {
    const auto used_now = used();
    const auto waited_now = waited_.read();
    if (!used_now || !used_before_) return;
    const nanoseconds passed = std::max(nanoseconds(0), now - std::exchange(looked_, now));
    const nanoseconds ran = *used_now - *used_before_;
    used_before_ = used_now;
    seen_.wall += passed;
    seen_.busy += ran;
    if (!waited_now || !waited_before_) return;
    const nanoseconds waited = *waited_now - *waited_before_;
    waited_before_ = waited_now;
    seen_.run_delay = seen_.run_delay.value_or(nanoseconds(0)) + waited;
    if (!asleep) return;
    const nanoseconds still = passed - ran - waited - *asleep;
    if (still > shortest_still) seen_.still += still;
}

base::thread_time thread_watch::take() noexcept {
    return std::exchange(seen_, {});
}

}  // namespace postal::os
