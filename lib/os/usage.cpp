// SPDX-License-Identifier: GPL-3.0-or-later
// getrusage(2) and the thread's CPU clock (clock_gettime(2)).
//
// The most memory comes from /proc/self/status, because ru_maxrss of a process starts with the size
// of the one that started it; where /proc is not mounted it is ru_maxrss all the same. User and
// system time of a process have the resolution of the scheduler's accounting, the thread's clock
// that of a nanosecond. Reading the latter costs a system call (no vDSO): once a time slice, not
// once a message.
#include "os/usage.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

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

// A clock's number holds that of its thread, as pthread_getcpuclockid(3) makes it.
std::optional<std::chrono::nanoseconds> thread_cpu_time(pid_t thread) noexcept {
    constexpr unsigned scheduled = 2;  // CPUCLOCK_SCHED
    constexpr unsigned of_thread = 4;  // CPUCLOCK_PERTHREAD_MASK
    const unsigned number = (~static_cast<unsigned>(thread) << 3U) | of_thread | scheduled;
    timespec time{};
    if (::clock_gettime(static_cast<clockid_t>(number), &time) != 0) return std::nullopt;
    return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

run_delay_meter run_delay_meter::of(pid_t thread) noexcept {
    constexpr std::string_view before = "/proc/self/task/";
    constexpr std::string_view behind = "/schedstat";
    std::array<char, 64> name{};  // ends with 0
    char* to = std::copy(before.begin(), before.end(), name.data());
    to = std::to_chars(to, to + 20, thread).ptr;
    std::copy(behind.begin(), behind.end(), to);
    run_delay_meter made;
    made.file_ = base::file_descriptor(::open(name.data(), O_RDONLY | O_CLOEXEC));
    return made;
}

run_delay_meter run_delay_meter::of_this_thread() noexcept {
    run_delay_meter made;
    made.file_ = base::file_descriptor(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
    return made;
}

// "RAN_NS WAITED_NS SLICES"; a kernel that does not keep them says "0 0 0".
std::optional<std::chrono::nanoseconds> run_delay_meter::read() const noexcept {
    std::array<char, 80> text{};
    if (!file_.is_open()) return std::nullopt;
    const ssize_t length = ::pread(file_.get(), text.data(), text.size(), 0);
    if (length <= 0) return std::nullopt;
    const char* const end = text.data() + length;
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    const auto first = std::from_chars(text.data(), end, ran);
    if (first.ec != std::errc{} || ran == 0 || first.ptr == end) return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, waited);
    if (second.ec != std::errc{}) return std::nullopt;
    return std::chrono::nanoseconds{waited};
}

}  // namespace postal::os
