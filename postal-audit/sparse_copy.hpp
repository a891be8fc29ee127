// SPDX-License-Identifier: GPL-3.0-or-later
// Copies from one file into another and leaves out what need not be stored.
//
// Both fail with a reason without a file's name: the caller knows which file is what.
#pragma once

#include "base/result.hpp"

#include <cstdint>

namespace postal::audit {

struct file_place {
    int descriptor = -1;
    std::uint64_t at = 0;  // octet
};

// So many octets; where the source has a hole, the target gets one, but for holes behind data in
// the last 128 KiB. The source must be so long.
[[nodiscard]] base::expected<void> copy_sparse(file_place from, file_place to,
                                               std::uint64_t octets);

// So many octets read as zeros and take no space, as far as whole blocks of the file system go. The
// file grows no longer.
[[nodiscard]] base::expected<void> punch_hole(file_place at, std::uint64_t octets);

}  // namespace postal::audit
