// getrusage(2) and the thread's CPU clock (clock_gettime(2)).
//
// The most memory comes from /proc/self/status, because ru_maxrss of a process starts with the size
// of the one that started it; where /proc is not mounted it is ru_maxrss all the same. User and
// system time of a process have the resolution of the scheduler's accounting, the thread's clock
// that of a nanosecond. Reading the latter costs a system call (no vDSO): once a time slice, not
// once a message.
#include "os/usage.hpp"

#include <sys/resource.h>
#include <time.h>

#include <fstream>
#include <string>

namespace postal::os {
namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// The line "VmHWM:    1234 kB", in octets; 0 when there is none.
std::uint64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string name; status >> name; status.ignore(4096, '\n')) {
        if (name != "VmHWM:") continue;
        std::uint64_t kilobytes = 0;
        status >> kilobytes;
        return kilobytes * 1024;
    }
    return 0;
}

}  // namespace

usage process_usage() noexcept {
    rusage self{};
    if (::getrusage(RUSAGE_SELF, &self) != 0) return {};
    const std::uint64_t peak = peak_memory();
    // Linux counts ru_maxrss in KiB.
    return {seconds(self.ru_utime), seconds(self.ru_stime),
            peak > 0 ? peak : static_cast<std::uint64_t>(self.ru_maxrss) * 1024};
}

std::chrono::nanoseconds thread_cpu_time() noexcept {
    timespec time{};
    if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return {};
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace postal::os
