// SPDX-License-Identifier: GPL-3.0-or-later
// A file that stands for a disk.
//
// Fails with one line that names the file: it is there already, no space, a file system that cannot
// allocate without writing. Nothing is left behind then.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace postal::testbed {

// Sparse takes space as it is written to; allocated has all its blocks from the start, so that
// writing to it later cannot fail for want of space and does not wait for blocks to be found.
enum class image_space { sparse, allocated };

// A new file of so many octets, which read as zeros. Only its owner may read and write it.
[[nodiscard]] base::expected<void> create_image(const std::string& path, std::uint64_t octets,
                                                image_space space);

// Writes the zeros that the file so far only reads as: blocks that are missing, or allocated and
// never written. The first write to such a block makes the file system below write to its own
// journal, and a flush then waits for that as well; after this a flush is the disk's alone. What
// the file holds stays. Asked every 64 MiB whether to go on; fails when not.
[[nodiscard]] base::expected<void> write_out_image(const std::string& path,
                                                   const std::function<bool()>& go_on);

}  // namespace postal::testbed
