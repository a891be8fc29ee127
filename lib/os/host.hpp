// SPDX-License-Identifier: GPL-3.0-or-later
// The machine that a run was made on.
//
// describe_host() never fails: what the kernel does not say stays empty or zero, since a benchmark
// must not end because /proc is not mounted. cpus counts the processors that this process may be
// scheduled on (sched_getaffinity), which is what "one worker a core" must go by, not those
// present; a cgroup's CPU quota is not looked at.
#pragma once

#include "base/host.hpp"

#include <optional>
#include <vector>

namespace postal::os {

[[nodiscard]] base::host_info describe_host();

// The numbers of the processors that this process may run on; none when the kernel does not say.
[[nodiscard]] std::vector<unsigned> usable_processors();

// What the kernel says of its clocks now, and how it slews them; empty where it does not say.
[[nodiscard]] std::optional<base::clock_state> clock_state() noexcept;

// How many they are; at least 1.
[[nodiscard]] unsigned usable_cpus();

}  // namespace postal::os
