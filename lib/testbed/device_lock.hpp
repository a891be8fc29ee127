// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps two experiments from one device.
//
// For a block device a file in /run, named by the number of the whole disk, is locked: experiments
// on two partitions of one disk would disturb each other as well. It is no lock on the device node:
// udev does not look at a disk whose node is locked, and programs that lock it while they change
// it, as systemd asks of them, would wait for the end of the experiment. For an image the file
// itself is locked. The lock ends with this object or this process; the empty file in /run stays
// until the next start of the system.
//
// Fails with one line that names the process that holds it, where the kernel tells. Limits: one
// machine; what lies below dm, RAID or loop devices is not looked at.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::testbed {

class device_lock {
  public:
    // Does not wait.
    [[nodiscard]] static base::expected<device_lock> take(const std::string& device_or_image);

  private:
    explicit device_lock(base::file_descriptor file) : file_(std::move(file)) {}

    base::file_descriptor file_;
};

// Who holds a flock on a file, from the text of /proc/locks.
[[nodiscard]] std::optional<pid_t> flock_holder(std::string_view locks, dev_t device,
                                                std::uint64_t inode);

}  // namespace postal::testbed
