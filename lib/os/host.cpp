// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/host.hpp"

#include <sched.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "base/text.hpp"
#include "os/process.hpp"

namespace postal::os {

std::vector<unsigned> usable_processors() {
    std::vector<unsigned> numbers;
    // A fixed cpu_set_t ends at 1024 processors; the kernel says EINVAL when a set is too small.
    for (unsigned most = 1024; most <= 1U << 20U && numbers.empty(); most *= 4) {
        cpu_set_t* const set = CPU_ALLOC(most);
        if (set == nullptr) break;
        const std::size_t size = CPU_ALLOC_SIZE(most);
        const bool known = ::sched_getaffinity(0, size, set) == 0;
        for (unsigned number = 0; known && number < most; ++number)
            if (CPU_ISSET_S(number, size, set)) numbers.push_back(number);
        CPU_FREE(set);
    }
    return numbers;
}

unsigned usable_cpus() {
    if (const auto numbers = usable_processors(); !numbers.empty())
        return static_cast<unsigned>(numbers.size());
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<unsigned>(online) : 1U;
}

namespace {

// Of what ntpd's kind of correction has left it takes 2^-(SHIFT_PLL + constant) in a second.
double slewed_ppm(const timex& told, double offset_us) noexcept {
    constexpr double least_divisor = 4;  // SHIFT_PLL
    const auto constant = static_cast<int>(std::clamp(told.constant, 0L, 30L));
    return offset_us / std::ldexp(least_divisor, constant);
}

// adjtime(3) slews by 500 ppm.
double adjtime_ppm() noexcept {
    timex left{};
    left.modes = ADJ_OFFSET_SS_READ;
    return ::adjtimex(&left) >= 0 && left.offset != 0 ? 500 : 0;
}

}  // namespace

std::optional<base::clock_state> clock_state() noexcept {
    timex told{};  // asks, and sets nothing
    if (::adjtimex(&told) < 0 || told.esterror < 0 || told.maxerror < 0) return std::nullopt;
    constexpr double scaled_ppm = 65'536;  // as the kernel keeps a frequency
    const double offset_us =
        static_cast<double>(told.offset) / ((told.status & STA_NANO) != 0 ? 1000 : 1);
    return base::clock_state{.synchronised = (told.status & STA_UNSYNC) == 0,
                             .estimated_error_us = static_cast<std::uint64_t>(told.esterror),
                             .most_error_us = static_cast<std::uint64_t>(told.maxerror),
                             .status = told.status,
                             .frequency_ppm = static_cast<double>(told.freq) / scaled_ppm,
                             .tick_us = told.tick,
                             .offset_us = std::llround(offset_us),
                             .slew_ppm = std::abs(slewed_ppm(told, offset_us)) + adjtime_ppm()};
}

namespace {

// That of the first one, of which not every architecture has a line; with a thousand processors the
// file is long.
std::string processor_model() {
    constexpr std::string_view key = "model name";
    constexpr int most_lines = 64;
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    for (int i = 0; i < most_lines && std::getline(file, line); ++i) {
        const auto colon = line.find(": ");
        if (line.starts_with(key) && colon != line.npos) return line.substr(colon + 2);
    }
    return {};
}

}  // namespace

base::host_info describe_host() {
    base::host_info host;
    utsname names{};
    if (::uname(&names) == 0) {
        host.name = names.nodename;
        host.kernel = std::string(names.sysname) + " " + names.release;
    }
    host.cpus = usable_cpus();
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long page = ::sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page > 0) {
        host.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    }
    host.processor = processor_model();
    host.boot_id = boot_id();
    host.clock = clock_state();
    return host;
}

}  // namespace postal::os
