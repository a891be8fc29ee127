// SPDX-License-Identifier: GPL-3.0-or-later
// Mounts a file system and unmounts it.
//
// Each failure is one line with device, folder and the reason. Needs root.
#pragma once

#include "base/result.hpp"
#include "testbed/mounts.hpp"

#include <chrono>
#include <string>

namespace postal::testbed {

struct mount_plan {
    std::string device;
    std::string folder;   // is there already
    std::string type;     // "ext4"
    std::string options;  // as behind mount -o; may be empty
};

// What the kernel says of the mount afterwards: options that it took without effect are missing.
[[nodiscard]] base::expected<mount_point> mount_device(const mount_plan& plan);

// The topmost mount of the folder, which fails when there is none. While it is busy, tries again
// for `patience`; the failure then names who holds it: processes, or mounts upon it.
[[nodiscard]] base::expected<void> unmount(
    const std::string& folder, std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace postal::testbed
