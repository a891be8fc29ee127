// What a run record says of the machine: plain data, filled by os::describe_host() and
// os::machine_time().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace postal::base {

// What the kernel says of its wall clock (adjtimex(2)).
struct clock_state {
    bool synchronised = false;  // by NTP, PTP or the like
    std::uint64_t estimated_error_us = 0;
    std::uint64_t most_error_us = 0;
    bool operator==(const clock_state&) const = default;
};

struct host_info {
    std::string name;                // nodename
    std::string kernel;              // "Linux 6.1.0-18-amd64"
    unsigned cpus = 1;               // that this process may run on
    std::uint64_t memory_bytes = 0;  // physical memory; 0 when not known
    std::string boot_id{};           // of the running kernel, and so of its clock; "": not known
    std::optional<clock_state> clock{};
};

// What the processors that this process may run on did, all together, up to some moment or between
// two.
struct machine_time {
    double all_s = 0;                  // 0: not known
    double idle_s = 0;                 // nothing to do, or waiting for a disk
    double stolen_s = 0;               // taken by the hypervisor
    std::optional<double> pressure_s;  // in which something waited for a processor (PSI)
};

}  // namespace postal::base
