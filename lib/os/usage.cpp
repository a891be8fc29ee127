// getrusage(2) and the thread's CPU clock (clock_gettime(2)).
//
// Linux counts ru_maxrss in KiB and never lowers it; user and system time of a process have the
// resolution of the scheduler's accounting, the thread's clock that of a nanosecond. Reading the
// latter costs a system call (no vDSO): once a piece of time, not once a message.
#include "os/usage.hpp"

#include <sys/resource.h>
#include <time.h>

namespace postal::os {
namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

usage process_usage() noexcept {
    rusage self{};
    if (::getrusage(RUSAGE_SELF, &self) != 0) return {};
    // Linux counts ru_maxrss in KiB.
    return {seconds(self.ru_utime), seconds(self.ru_stime),
            static_cast<std::uint64_t>(self.ru_maxrss) * 1024};
}

std::chrono::nanoseconds thread_cpu_time() noexcept {
    timespec time{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return {};
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace postal::os
