// SPDX-License-Identifier: GPL-3.0-or-later
// What is on a block device, from its own octets and not from anybody's cache.
#pragma once

#include "base/result.hpp"

#include <string>

namespace postal::testbed {

enum class content_kind {
    nothing,  // no signature that libblkid knows
    file_system,
    partition_table,
    other,    // swap, RAID, LVM, encryption
    several,  // signatures that contradict each other
};

struct device_content {
    content_kind kind = content_kind::nothing;
    std::string type;   // "ext4", "gpt", "LVM2_member"
    std::string uuid;   // of the file system or table; empty when it has none
    std::string label;  // fit for a terminal

    // `a file system of type ext4 with the label "mail"`, "nothing".
    [[nodiscard]] std::string text() const;
    bool operator==(const device_content&) const = default;
};

// Of a device or an image file. Fails with "cannot probe PATH: reason".
[[nodiscard]] base::expected<device_content> probe_device(const std::string& path);

}  // namespace postal::testbed
