// SPDX-License-Identifier: GPL-3.0-or-later
// Loop devices: a file that the kernel shows as a disk.
//
// An attached device stays until it is detached, also when this process ends: its number is known
// only afterwards, so leftovers are found by the file behind them. Each failure is one line that
// names device and file.
//
// Limits: needs root, and /dev/loopN made by the kernel (devtmpfs); Linux 5.8 (LOOP_CONFIGURE).
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace postal::testbed {

// Direct: blocks go to the image's file system past the page cache, so that none is kept twice and
// a flush of the device means the same as one of the disk below.
enum class loop_io { buffered, direct };

struct loop_device {
    std::string path;        // "/dev/loop3"
    bool direct_io = false;  // what the kernel does, which may differ from what was asked
    std::string note;        // one line when direct I/O was asked for and refused, else empty
};

// On the first free number, whoever else is taking numbers meanwhile.
[[nodiscard]] base::expected<loop_device> attach_loop(const std::string& image, loop_io io);

// The devices that this file is attached to, by any of its names and also when it was deleted
// since; in the order of their numbers. Without root only by the name that the kernel shows.
[[nodiscard]] base::expected<std::vector<std::string>> loops_of(const std::string& image);

// Succeeds as well when the device is not attached to this image (any more): its number may be
// another's by now, which is then left alone. Whoever has the device open keeps it attached: waits
// for them for `patience`, after which the kernel still detaches it once they are done.
[[nodiscard]] base::expected<void> detach_loop(
    const std::string& device, const std::string& image,
    std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace postal::testbed
