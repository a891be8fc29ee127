// The limit of open file descriptors, raised as far as this process may.
//
// Fails with one line that says how many are needed, what the limit is, and which setting raises
// it. Limits: only RLIMIT_NOFILE; the system-wide fs.file-max shows itself as ENFILE when opening.
#pragma once

#include "base/result.hpp"

#include <cstdint>

namespace postal::os {

// Makes the soft limit at least needed; a soft limit that is enough already is left alone. A
// privileged process also raises its hard limit when that is too small. Call it before any thread.
[[nodiscard]] base::expected<void> raise_descriptor_limit(std::uint64_t needed);

// The soft limit now; the largest number when there is none.
[[nodiscard]] std::uint64_t descriptor_limit() noexcept;

}  // namespace postal::os
