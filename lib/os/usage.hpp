// What this process and this thread have used so far.
//
// Never fails: getrusage(RUSAGE_SELF) and CLOCK_THREAD_CPUTIME_ID exist on every Linux that runs
// this.
#pragma once

#include <chrono>
#include <cstdint>

namespace postal::os {

struct usage {
    double user_s = 0;
    double system_s = 0;
    std::uint64_t max_rss_bytes = 0;
};

[[nodiscard]] usage process_usage() noexcept;

// CPU time, user and system, of the calling thread.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time() noexcept;

}  // namespace postal::os
