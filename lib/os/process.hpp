// SPDX-License-Identifier: GPL-3.0-or-later
// Processes of this machine as /proc shows them, whoever started them.
//
// A number is given away again once its process is gone; with the time of its start, and within one
// boot, it names one process for good. Nothing here fails: what is not there, or not to be seen, is
// no process.
#pragma once

#include "base/file_descriptor.hpp"
#include "os/proc_texts.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::os {

[[nodiscard]] std::optional<process_stat> find_process(pid_t pid);

[[nodiscard]] std::vector<process_stat> all_processes();

// Those that a process started, and those started by these, as far as they still have their
// parents.
[[nodiscard]] std::vector<process_stat> descendants_of(pid_t pid);

// Now, as process_stat::start has it.
[[nodiscard]] std::uint64_t clock_ticks() noexcept;

// Readable once the process ended, also of another's child; none when it is gone already.
[[nodiscard]] base::file_descriptor watch_process(pid_t pid);

// Processes that lose their parents become this one's children, not those of process 1.
void adopt_orphans();

// Differs after every start of the machine; empty when the kernel does not say.
[[nodiscard]] std::string boot_id();

}  // namespace postal::os
