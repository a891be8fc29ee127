// SPDX-License-Identifier: GPL-3.0-or-later
// How much of what is written to a block device may wait in the kernel's memory before whoever
// writes has to wait: /sys/block/DEVICE/bdi.
//
// For devices whose writes need memory themselves (a loop device above FUSE): with a limit of their
// own they cannot fill it with what only they can write out.
//
// Limits: strict_limit and max_bytes came with Linux 6.2; before it there is only max_ratio, in
// whole percent of what may be dirty at all, and it counts from half of that on.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace postal::testbed {

// A file of the kernel's and what is to be written to it.
struct kernel_setting {
    std::string path;
    std::string value;
    bool operator==(const kernel_setting&) const = default;
};

struct dirty_limit {
    std::vector<kernel_setting> wanted;  // in this order
    std::vector<kernel_setting> before;  // what undoes it, in this order
};

// About so many octets, or 1 % where only that can be said; nothing is changed yet. Fails with one
// line where the device has no such settings.
[[nodiscard]] base::expected<dirty_limit> plan_dirty_limit(const std::string& device,
                                                           std::uint64_t octets);

// Also well where the file has gone with its device.
[[nodiscard]] base::expected<void> apply(const kernel_setting& one);

}  // namespace postal::testbed
