// SPDX-License-Identifier: GPL-3.0-or-later
// Asked before a file system is made on a device: would anything be lost?
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace postal::testbed {

enum class existing_data { keep, overwrite };

// Refuses, with one line that says what is there: what is no block device; a device that is
// mounted, or a disk with a mounted partition; one that the kernel uses otherwise or that somebody
// has opened exclusively (swap, RAID, LVM, a mount in another namespace); and, unless it may be
// overwritten, one that holds anything but the file system with this UUID, which is the one that
// the caller made there last. An empty device may always be formatted; an empty UUID is none.
//
// Limits: what happens between the answer and mkfs is not seen; mkfs opens exclusively itself. Data
// without a signature that libblkid knows is taken for nothing.
[[nodiscard]] base::expected<void> may_format(const std::string& device, std::string_view own_uuid,
                                              existing_data existing);

}  // namespace postal::testbed
