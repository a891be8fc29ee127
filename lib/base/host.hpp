// What a run record says of the machine: plain data, filled by os::describe_host().
#pragma once

#include <cstdint>
#include <string>

namespace postal::base {

struct host_info {
    std::string name;                // nodename
    std::string kernel;              // "Linux 6.1.0-18-amd64"
    unsigned cpus = 1;               // that this process may run on
    std::uint64_t memory_bytes = 0;  // physical memory; 0 when not known
};

}  // namespace postal::base
