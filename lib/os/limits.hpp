// SPDX-License-Identifier: GPL-3.0-or-later
// Resource limits (setrlimit(2)): what a child process may use, as a person writes it, and the
// descriptors of this one.
//
// "cpu=30s,memory=512M,files=64,processes=100,file-size=2G,core=0": seconds of CPU (RLIMIT_CPU,
// rounded up to whole ones; SIGXCPU at the limit, SIGKILL a second later), octets of address space
// (RLIMIT_AS), open files (RLIMIT_NOFILE), processes of the child's user, wherever they came from
// (RLIMIT_NPROC; not for root), octets of a file that it writes (RLIMIT_FSIZE; SIGXFSZ) and of a
// core (RLIMIT_CORE). Each may stand once. Unknown names, zero but for a core, and what the kernel
// would not give this process are refused with one line, so that no child fails on its limits
// later.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace postal::os {

struct limit {
    int resource = 0;  // RLIMIT_...
    std::uint64_t soft = 0;
    std::uint64_t hard = 0;
    bool operator==(const limit&) const = default;
};

// Asks the kernel by raising this process's hard limit for a moment where it is lower than the one
// wanted: call it before any thread. An empty text is no limit at all.
[[nodiscard]] base::expected<std::vector<limit>> parse_limits(std::string_view text);

// That much, or what this process may have itself where that is less.
[[nodiscard]] limit at_most(int resource, std::uint64_t value) noexcept;

// RLIMIT_NOFILE as it is now. Taken at a program's start, before raise_descriptor_limit(), it is
// what children should get: programs that use select(2) break with a large one.
[[nodiscard]] limit current_descriptor_limit() noexcept;

// Makes the soft limit of open files at least `needed`, where it is not. A privileged process also
// raises its hard limit when that is too small. Fails with what is needed, what the limit is, and
// which setting raises it; the system-wide fs.file-max shows itself as ENFILE when opening. Call it
// before any thread.
[[nodiscard]] base::expected<void> raise_descriptor_limit(std::uint64_t needed);

}  // namespace postal::os
