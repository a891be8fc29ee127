// SPDX-License-Identifier: GPL-3.0-or-later
// How long a flush takes in a folder: the time until what was written is said to be on the disk.
#pragma once

#include "base/result.hpp"

#include <string>

namespace postal::testbed {

struct flush_time {
    unsigned flushes = 0;
    double median_s = 0;
    double maximum_s = 0;
};

// A new file grows by 4 KiB before each flush (fdatasync), as one does that mail is written to; the
// time is that of write and flush. The file is gone afterwards. Fails with "FOLDER: step: reason";
// there is at least one flush.
[[nodiscard]] base::expected<flush_time> time_flushes(const std::string& folder,
                                                      unsigned flushes = 20);

}  // namespace postal::testbed
