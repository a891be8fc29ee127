// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/write_log.hpp"

#include "base/interrupted.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <limits>
#include <optional>
#include <span>

namespace postal::audit {
namespace {

constexpr std::uint64_t magic = 0x6a736677736872;
constexpr std::uint64_t known_version = 1;
constexpr std::uint32_t smallest_sector = 512;
constexpr std::uint32_t largest_sector = 1U << 23U;
constexpr std::size_t most_entries = std::size_t{1} << 23U;
constexpr std::uint64_t most_octets = std::numeric_limits<std::int64_t>::max();

constexpr std::uint64_t flush_flag = 1;
constexpr std::uint64_t fua_flag = 2;
constexpr std::uint64_t discard_flag = 4;
constexpr std::uint64_t mark_flag = 8;
constexpr std::uint64_t metadata_flag = 16;  // whose data it is; the disk does not care
constexpr std::uint64_t known_flags =
    flush_flag | fua_flag | discard_flag | mark_flag | metadata_flag;

using raw_header = std::array<unsigned char, 32>;

std::uint64_t little_endian(std::span<const unsigned char> octets) {
    std::uint64_t number = 0;
    for (std::size_t i = octets.size(); i-- > 0;)
        number = number << 8U | octets[i];
    return number;
}

std::uint64_t number_at(const raw_header& header, std::size_t octet) {
    return little_endian(std::span(header).subspan(octet, 8));
}

struct superblock {
    std::uint64_t entries = 0;
    std::uint32_t sector_size = 0;
};

// Reads a log that is open, from its first octet to its last.
class log_parser {
  public:
    log_parser(int file, const std::string& path, std::uint64_t size)
        : file_(file), path_(path), size_(size) {}

    base::expected<superblock> read_superblock() {
        const auto header = header_at(0);
        if (!header) return header.error();
        if (number_at(*header, 0) != magic)
            return fail_at(0,
                           "not a log of writes: it begins otherwise (or nothing was flushed "
                           "before its writer ended)");
        if (const auto version = number_at(*header, 8); version != known_version)
            return fail_at(8, fmt::format("version {} of the log's format; only {} is known",
                                          version, known_version));
        const auto sector = little_endian(std::span(*header).subspan(24, 4));
        if (!std::has_single_bit(sector) || sector < smallest_sector || sector > largest_sector)
            return fail_at(24, fmt::format("sectors of {} octets; a power of two from {} to {} is "
                                           "needed",
                                           sector, smallest_sector, largest_sector));
        if (size_ < sector) return fail_at(size_, "the log ends within its first sector");
        sector_size_ = static_cast<std::uint32_t>(sector);
        at_ = sector_size_;
        return superblock{number_at(*header, 16), sector_size_};
    }

    // The next entry; none where the log ends, be it within an entry.
    base::expected<std::optional<log_entry>> next() {
        if (remaining() < sector_size_) return none();
        const auto header = header_at(at_);
        if (!header) return header.error();
        const auto first = number_at(*header, 0);
        const auto sectors = number_at(*header, 8);
        const auto flags = number_at(*header, 16);
        if ((flags & ~known_flags) != 0)
            return fail_at(at_ + 16, fmt::format("an entry with unknown flags 0x{:x}", flags));
        if (flags == 0 && sectors == 0) return none();
        const bool is_mark = (flags & mark_flag) != 0;
        if (is_mark && sectors != 0)
            return fail_at(at_ + 8, fmt::format("a mark that writes {} sectors", sectors));
        const std::uint64_t most_sectors = most_octets / sector_size_;
        if (sectors > most_sectors || (sectors > 0 && first > most_sectors - sectors))
            return fail_at(at_, fmt::format("an entry for {} sectors from sector {}: no disk is so "
                                            "large",
                                            sectors, first));
        log_entry entry;
        entry.at = sectors > 0 ? first * sector_size_ : 0;
        entry.octets = sectors * sector_size_;
        entry.data_at = at_ + sector_size_;
        entry.flush = (flags & flush_flag) != 0;
        entry.fua = (flags & fua_flag) != 0;
        entry.discard = (flags & discard_flag) != 0;
        entry.mark = is_mark;
        const std::uint64_t stored = entry.discard ? 0 : entry.octets;
        if (stored > size_ - entry.data_at) return none();
        entry.ends_at = entry.data_at + stored;
        at_ = entry.ends_at;
        return std::optional(entry);
    }

    std::uint64_t position() const noexcept { return at_; }
    std::uint64_t remaining() const noexcept { return size_ - std::min(at_, size_); }

    template <class Text>
    base::failure fail_at(std::uint64_t octet, const Text& text) const {
        return base::fail("{}: octet {}: {}", path_, octet, text);
    }

  private:
    static base::expected<std::optional<log_entry>> none() { return std::optional<log_entry>(); }

    base::expected<raw_header> header_at(std::uint64_t octet) const {
        raw_header header{};
        std::size_t done = 0;
        while (done < header.size()) {
            const ssize_t got = base::uninterrupted([&] {
                return ::pread(file_, header.data() + done, header.size() - done,
                               static_cast<off_t>(octet + done));
            });
            if (got < 0) return fail_at(octet, base::system_message(errno));
            if (got == 0) return fail_at(octet + done, "the log ends within its first sector");
            done += static_cast<std::size_t>(got);
        }
        return header;
    }

    int file_;
    const std::string& path_;
    std::uint64_t size_;
    std::uint64_t at_ = 0;
    std::uint32_t sector_size_ = 0;
};

}  // namespace

base::expected<write_log> write_log::open(const std::string& path) {
    write_log log;
    log.path_ = path;
    log.file_ = base::file_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!log.file_.is_open() || ::fstat(log.file_.get(), &status) != 0)
        return base::fail("{}: {}", path, base::system_message(errno));
    const bool is_device = S_ISBLK(status.st_mode);
    if (!is_device && !S_ISREG(status.st_mode))
        return base::fail("{}: neither a file nor a block device", path);
    const off_t size = ::lseek(log.file_.get(), 0, SEEK_END);
    if (size < 0) return base::fail("{}: {}", path, base::system_message(errno));

    log_parser parser(log.file_.get(), path, static_cast<std::uint64_t>(size));
    const auto super = parser.read_superblock();
    if (!super) return super.error();
    log.sector_size_ = super->sector_size;
    while (!is_device || log.entries_.size() < super->entries) {
        const auto entry = parser.next();
        if (!entry) return entry.error();
        if (!entry->has_value()) break;
        if (log.entries_.size() == most_entries)
            return parser.fail_at(parser.position(),
                                  fmt::format("more than {} entries", most_entries));
        log.add(**entry);
    }
    if (log.entries_.size() < super->entries)
        return parser.fail_at(parser.position(),
                              fmt::format("the log ends behind {} entries; it should have {}",
                                          log.entries_.size(), super->entries));
    if (!is_device) log.unread_octets_ = parser.remaining();
    return log;
}

void write_log::add(const log_entry& entry) {
    entries_.push_back(entry);
    if (entry.flush) ++flushes_;
    if (!changes_disk(entry) || entry.discard) return;
    ++writes_;
    octets_ += entry.octets;
}

std::size_t write_log::last_flush_before(std::size_t entries) const noexcept {
    for (std::size_t i = std::min(entries, entries_.size()); i-- > 0;) {
        const log_entry& entry = entries_[i];
        if (!entry.flush) continue;
        return changes_disk(entry) && !entry.fua ? i : i + 1;
    }
    return 0;
}

std::vector<std::size_t> write_log::at_risk(std::size_t entries) const {
    std::vector<std::size_t> indices;
    const std::size_t end = std::min(entries, entries_.size());
    for (std::size_t i = last_flush_before(end); i < end; ++i) {
        if (changes_disk(entries_[i]) && !entries_[i].fua) indices.push_back(i);
    }
    return indices;
}

}  // namespace postal::audit
