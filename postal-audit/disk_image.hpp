// SPDX-License-Identifier: GPL-3.0-or-later
// A disk as it was after some entries of a log of writes: a sparse file that the entries are
// applied to.
//
// Discarded octets, and those that the log file itself holds as a hole, become holes, which read as
// zeros. Data goes from file to file within the kernel where the file systems can, and otherwise
// through 1 MiB of memory. An entry beyond the disk's end is a failure and changes nothing. Every
// failure is one line that names the file; what the image holds after another one is of no use.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "postal-audit/draws.hpp"
#include "postal-audit/write_log.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace postal::audit {

class disk_image {
  public:
    // A new file that reads as zeros; only its owner may read and write it.
    [[nodiscard]] static base::expected<disk_image> create(const std::string& path,
                                                           std::uint64_t octets);

    // The entries [first, last) in order.
    [[nodiscard]] base::expected<void> apply(const write_log& log, std::size_t first,
                                             std::size_t last);
    // One entry, or of a write the sectors of `torn` only, where there are any.
    [[nodiscard]] base::expected<void> apply_one(const write_log& log, std::size_t index,
                                                 std::span<const sector_run> torn = {});
    // What a cut leaves of the entries behind the last flush before it: FUA writes and a draw's
    // survivors, in the log's order. The image must hold what came up to that flush.
    [[nodiscard]] base::expected<void> apply_survivors(const write_log& log, std::size_t cut,
                                                       const std::vector<survivor>& survivors);

    // A new file with the same content and the same holes.
    [[nodiscard]] base::expected<disk_image> copy_to(const std::string& path) const;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t octets() const noexcept { return octets_; }

  private:
    disk_image(std::string path, std::uint64_t octets, base::file_descriptor file)
        : path_(std::move(path)), octets_(octets), file_(std::move(file)) {}

    std::string path_;
    std::uint64_t octets_;
    base::file_descriptor file_;
};

}  // namespace postal::audit
