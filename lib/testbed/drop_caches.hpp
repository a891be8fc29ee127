// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the kernel forget what it keeps of files, so that each run begins with the same: nothing.
#pragma once

#include <string>

namespace postal::testbed {

// Where it is not allowed (no root, a container), a run goes on with warm caches, and says so.
struct caches_dropped {
    bool dropped = false;
    std::string reason;  // one line when they were not, else empty
};

// Writes all that is dirty to the disks of this machine first (sync), which takes as long as it
// takes; then page cache, directory entries and inodes that nobody uses are dropped.
[[nodiscard]] caches_dropped drop_caches(const std::string& control = "/proc/sys/vm/drop_caches");

}  // namespace postal::testbed
