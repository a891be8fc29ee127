// SPDX-License-Identifier: GPL-3.0-or-later
// What some files of /proc say, without I/O: proc(5), and the kernel's admin-guide/iostats.rst.
//
// Any text may be given. A line that does not have its form, and a number that does not fit, count
// as not there; what is not there is not known. Counters are those since the machine was started.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::os {

// The number in front, which is taken off with the blanks before it. Without one nothing but the
// blanks is taken off.
[[nodiscard]] std::optional<std::uint64_t> take_number(std::string_view& text);

// Up to the next line end, which is taken off too.
[[nodiscard]] std::string_view take_line(std::string_view& text);

// Of all processors together, in seconds; a guest's time is in the user's.
struct processor_times {
    double user_s = 0;    // with nice
    double system_s = 0;  // with interrupts
    double iowait_s = 0;
    double steal_s = 0;
    double idle_s = 0;
    bool operator==(const processor_times&) const = default;
};

struct machine_counts {
    std::optional<processor_times> processors;
    std::optional<std::uint64_t> context_switches;
    std::optional<std::uint64_t> forks;  // of processes and threads
    std::optional<std::uint64_t> dirty_bytes;
    std::optional<std::uint64_t> writeback_bytes;
};

// From /proc/stat and /proc/meminfo one behind the other, with any other text between.
[[nodiscard]] machine_counts parse_machine_counts(std::string_view text);

// Those that have ended. A sector has 512 octets whatever the device's is. The kernel shows
// milliseconds modulo 2^32 (see carry_on()).
struct device_counts {
    std::uint64_t reads = 0;
    std::uint64_t sectors_read = 0;
    std::uint64_t writes = 0;
    std::uint64_t sectors_written = 0;
    std::uint64_t busy_ms = 0;              // in which at least one request was under way
    std::uint64_t queue_ms = 0;             // the sum of the times of all requests
    std::optional<std::uint64_t> discards;  // Linux 4.18
    std::optional<std::uint64_t> flushes;   // Linux 5.5; counted for whole devices only
    std::optional<std::uint64_t> flush_ms;  // the sum of their times
    bool operator==(const device_counts&) const = default;
};

struct device_line {
    unsigned major = 0;
    unsigned minor = 0;
    std::string_view name;  // points into the text
    device_counts counts;
};

// From /proc/diskstats, with any other text around. The flushes of a partition are not known:
// whose name is that of another line and a number behind it ("sda1", "nvme0n1p1").
[[nodiscard]] std::vector<device_line> parse_devices(std::string_view text);

// Makes milliseconds that have passed 2^32 since `before` go on from there; `before` has been
// through this itself.
void carry_on(device_counts& now, const device_counts& before);

// In ticks of the kernel's accounting (sysconf(_SC_CLK_TCK) a second).
struct process_stat {
    pid_t pid = 0;
    std::string name;  // of the program, up to 15 octets of any kind
    pid_t parent = 0;
    std::uint64_t user = 0;
    std::uint64_t system = 0;
    std::uint64_t children = 0;  // user and system of those that ended and were waited for
    std::uint64_t start = 0;     // since the machine was started
    pid_t group = 0;
    bool ended = false;  // a zombie: nobody has asked yet how it ended
    std::uint64_t threads = 1;
    bool operator==(const process_stat&) const = default;
};

// From /proc/PID/stat.
[[nodiscard]] std::optional<process_stat> parse_process_stat(std::string_view text);

// With that of children that ended and were waited for (which proc(5) does not say).
struct process_io {
    std::uint64_t read_bytes = 0;
    std::uint64_t write_bytes = 0;
    bool operator==(const process_io&) const = default;
};

// From /proc/PID/io.
[[nodiscard]] std::optional<process_io> parse_process_io(std::string_view text);

// From /proc/PID/status or /proc/PID/task/TID/status: how often that one thread gave its processor
// up by itself, which is to wait for something; so often, but for its first time, it was woken.
[[nodiscard]] std::optional<std::uint64_t> parse_voluntary_switches(std::string_view text);

// From /proc/PID/smaps_rollup, in octets: of pages that several processes have, each its share.
[[nodiscard]] std::optional<std::uint64_t> parse_proportional_memory(std::string_view text);

}  // namespace postal::os
