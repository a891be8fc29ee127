// SPDX-License-Identifier: GPL-3.0-or-later
// What was written to a disk and when it was flushed: a log in the format of Linux' dm-log-writes,
// as that target and qemu's blklogwrites write it.
//
// Only where each entry stands is read and kept (40 octets of memory each, 40 MB for a million);
// the data stays in the file. All numbers are little-endian:
//
//     sector 0    magic 0x6a736677736872, version 1, number of entries, sector size (32 bits)
//     then, each  one sector: first sector on the disk, sectors, flags, length of a mark's text;
//                 behind it as many sectors of data, none for a discard
//
// Sectors of the disk and of the log are both counted in the log's own sector size. The number of
// entries in sector 0 is written now and then only, so a file is read to its end, whatever that
// number; it must not be larger than what the file holds. A last entry that is not whole (its
// writer was killed) is left out. A block device goes on behind its log: there the number is
// believed.
//
// A log may be anything: what cannot be one fails with one line that names the file and the octet.
// Limits: 8,388,608 entries; disks and logs below 2^63 octets; sectors of 512 octets to 8 MiB.
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace postal::audit {

struct log_entry {
    std::uint64_t at = 0;       // octet on the disk
    std::uint64_t octets = 0;   // written or discarded
    std::uint64_t data_at = 0;  // octet in the log file
    std::uint64_t ends_at = 0;  // octets of the log up to the end of this entry
    bool flush = false;  // what came before it is durable; its own data is written after that
    bool fua = false;    // durable once it is complete, without a flush
    bool discard = false;
    bool mark = false;  // somebody's note; nothing happens to the disk
    bool operator==(const log_entry&) const = default;
};

[[nodiscard]] constexpr bool changes_disk(const log_entry& entry) noexcept {
    return entry.octets > 0;
}

class write_log {
  public:
    [[nodiscard]] static base::expected<write_log> open(const std::string& path);

    [[nodiscard]] const std::vector<log_entry>& entries() const noexcept { return entries_; }
    [[nodiscard]] std::uint32_t sector_size() const noexcept { return sector_size_; }
    // For reading data; as long as the log lives.
    [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    // Octets behind the last whole entry: 0, or the log ends in an entry that is not whole or in
    // one that asks for nothing (zeros, which no writer of logs writes).
    [[nodiscard]] std::uint64_t unread_octets() const noexcept { return unread_octets_; }
    [[nodiscard]] bool ends_whole() const noexcept { return unread_octets_ == 0; }

    // How many of the first `entries` are durable at the least: up to and with the last flush. Of a
    // flush that carries data of its own without FUA, only what came before it is.
    [[nodiscard]] std::size_t last_flush_before(std::size_t entries) const noexcept;
    // The writes and discards behind that flush, ascending; FUA writes are not among them.
    [[nodiscard]] std::vector<std::size_t> at_risk(std::size_t entries) const;

    // Of the whole log. A flush with data counts as both; octets are those of writes.
    [[nodiscard]] std::uint64_t flushes() const noexcept { return flushes_; }
    [[nodiscard]] std::uint64_t writes() const noexcept { return writes_; }
    [[nodiscard]] std::uint64_t octets() const noexcept { return octets_; }

  private:
    write_log() = default;
    void add(const log_entry& entry);

    std::string path_;
    base::file_descriptor file_;
    std::uint32_t sector_size_ = 0;
    std::vector<log_entry> entries_;
    std::uint64_t unread_octets_ = 0;
    std::uint64_t flushes_ = 0;
    std::uint64_t writes_ = 0;
    std::uint64_t octets_ = 0;
};

}  // namespace postal::audit
