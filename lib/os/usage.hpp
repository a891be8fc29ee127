// SPDX-License-Identifier: GPL-3.0-or-later
// What this process and this thread have used so far.
//
// Never fails: getrusage(RUSAGE_SELF) and CLOCK_THREAD_CPUTIME_ID exist on every Linux that runs
// this.
#pragma once

#include "base/file_descriptor.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace postal::os {

struct usage {
    double user_s = 0;
    double system_s = 0;
    std::uint64_t max_rss_bytes = 0;
};

[[nodiscard]] usage process_usage() noexcept;

// CPU time, user and system, of the calling thread.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time() noexcept;
// The same of another thread of this process; nothing once that has ended.
[[nodiscard]] std::optional<std::chrono::nanoseconds> thread_cpu_time(pid_t thread) noexcept;

// How long one thread has been ready to run and waited for a processor, since it began:
// /proc/thread-self/schedstat, which stays open.
class run_delay_meter {
  public:
    run_delay_meter() = default;  // knows nothing
    static run_delay_meter of_this_thread() noexcept;
    // Another one of this process; what it waits for at the moment is not counted yet.
    static run_delay_meter of(pid_t thread) noexcept;
    // Nothing where the kernel does not say.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> read() const noexcept;

  private:
    base::file_descriptor file_;
};

}  // namespace postal::os
