// A file that stands for a disk.
//
// Fails with one line that names the file: it is there already, no space, a file system that cannot
// allocate without writing. Nothing is left behind then.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace postal::os {

// Sparse takes space as it is written to; allocated has all its blocks from the start, so that
// writing to it later cannot fail for want of space and does not wait for blocks to be found.
enum class image_space { sparse, allocated };

// A new file of so many octets, which read as zeros. Only its owner may read and write it.
[[nodiscard]] base::expected<void> create_image(const std::string& path, std::uint64_t octets,
                                                image_space space);

}  // namespace postal::os
