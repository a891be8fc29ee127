// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/machine_time.hpp"

#include "base/read_file.hpp"
#include "os/host.hpp"
#include "os/proc_texts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace postal::os {
namespace {

constexpr std::uint64_t longest_time_file = 16U << 20U;  // a line for each processor and interrupt

// "cpu3 USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ...", after "cpu3"; the guests' time that
// follows is a part of the first two.
void add_processor(base::machine_time& sum, std::string_view line, double tick_s) {
    std::array<double, 8> times{};
    for (double& one : times)
        sum.all_s += one = static_cast<double>(take_number(line).value_or(0)) * tick_s;
    sum.idle_s += times[3] + times[4];
    sum.stolen_s += times[7];
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS"
std::optional<double> pressure_of(std::string_view text) {
    constexpr std::string_view before = "total=";
    text = take_line(text);
    const auto at = text.find(before);
    if (!text.starts_with("some ") || at == text.npos) return std::nullopt;
    text.remove_prefix(at + before.size());
    return static_cast<double>(take_number(text).value_or(0)) / 1e6;
}

}  // namespace

base::machine_time parse_machine_time(std::string_view stat, std::string_view pressure,
                                      const std::vector<unsigned>& processors) {
    const double tick_s = 1.0 / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
    base::machine_time sum;
    while (!stat.empty()) {
        std::string_view line = take_line(stat);
        // The first line is the sum of all.
        if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
        line.remove_prefix(3);
        const auto number = static_cast<unsigned>(take_number(line).value_or(0));
        const bool ours = processors.empty() || std::find(processors.begin(), processors.end(),
                                                          number) != processors.end();
        if (ours) add_processor(sum, line, tick_s);
    }
    sum.pressure_s = pressure_of(pressure);
    return sum;
}

base::machine_time machine_time() {
    const auto stat = base::read_file("/proc/stat", longest_time_file);
    const auto pressure = base::read_file("/proc/pressure/cpu", longest_time_file);
    return parse_machine_time(stat ? *stat : "", pressure ? *pressure : "", usable_processors());
}

// A processor that comes or goes meanwhile makes the sums go back: nothing is known of that time.
base::machine_time machine_watch::since_last() {
    const base::machine_time now = machine_time();
    const base::machine_time before = before_;
    before_ = now;
    base::machine_time passed;
    passed.throttled_s = quota_.since_last();
    if (now.pressure_s && before.pressure_s)
        passed.pressure_s = std::max(0.0, *now.pressure_s - *before.pressure_s);
    if (!(before.all_s > 0) || now.all_s < before.all_s || now.idle_s < before.idle_s)
        return passed;
    passed.all_s = now.all_s - before.all_s;
    passed.idle_s = now.idle_s - before.idle_s;
    passed.stolen_s = std::max(0.0, now.stolen_s - before.stolen_s);
    return passed;
}

}  // namespace postal::os
