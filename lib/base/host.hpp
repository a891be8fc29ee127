// What a run record says of the machine: plain data, filled by os::describe_host() and
// os::machine_time().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace postal::base {

struct host_info {
    std::string name;                // nodename
    std::string kernel;              // "Linux 6.1.0-18-amd64"
    unsigned cpus = 1;               // that this process may run on
    std::uint64_t memory_bytes = 0;  // physical memory; 0 when not known
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
