// SPDX-License-Identifier: GPL-3.0-or-later
// What is mounted where, as the kernel says it to this process.
//
// Limits: this process's mount namespace only. A device that is mounted in another one is not seen
// here, but cannot be opened exclusively either (see format_guard.hpp).
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace postal::testbed {

struct mount_point {
    std::string source;   // "/dev/loop0", "tmpfs"
    std::string folder;   // absolute
    std::string type;     // "ext4"
    std::string options;  // those in effect, the file system's own behind: "rw,relatime,nobarrier"
    dev_t device = 0;     // of its files; not the disk's where a file system invents one (Btrfs)
    int id = 0;
    int parent = 0;  // what it is mounted upon

    // As in /proc/mounts: "/dev/loop0 /mnt ext4 rw,relatime,nobarrier".
    [[nodiscard]] std::string line() const;
    bool operator==(const mount_point&) const = default;
};

// All of a table in the format of /proc/self/mountinfo, in its order: what covers another is behind
// it. Fails with "PATH: reason".
[[nodiscard]] base::expected<std::vector<mount_point>> read_mounts(
    const std::string& table = "/proc/self/mountinfo");

// Those of a block device, whatever name it was mounted by. Of a Btrfs on several devices only
// those that name this one.
[[nodiscard]] std::vector<mount_point> mounts_of(const std::vector<mount_point>& all, dev_t device);

// What one sees at a folder (its last mount); nothing when it is no mount point.
[[nodiscard]] std::optional<mount_point> mount_at(const std::vector<mount_point>& all,
                                                  const std::string& folder);

}  // namespace postal::testbed
