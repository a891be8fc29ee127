// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/sparse_copy.hpp"

#include "base/interrupted.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace postal::audit {
namespace {

constexpr std::size_t buffer_octets = std::size_t{1} << 20U;
// So few octets are copied without asking where their next hole is: tmpfs looks at every page up to
// there, which may be far behind them.
constexpr std::uint64_t not_searched = std::uint64_t{128} << 10U;

base::failure failed(const char* what) {
    return base::fail("{}: {}", what, base::system_message(errno));
}

// Where the next data, or with SEEK_HOLE the next hole, begins; not behind `end`. A file that
// cannot tell (a block device, some file systems) is data all over.
std::uint64_t next_border(file_place from, std::uint64_t end, int whence) {
    const off_t found = ::lseek(from.descriptor, static_cast<off_t>(from.at), whence);
    if (found >= 0) return std::min(static_cast<std::uint64_t>(found), end);
    if (whence == SEEK_DATA) return errno == ENXIO ? end : from.at;
    return end;
}

base::expected<void> copy_through_memory(file_place from, file_place to, std::uint64_t octets) {
    std::vector<char> buffer(
        static_cast<std::size_t>(std::min<std::uint64_t>(octets, buffer_octets)));
    while (octets > 0) {
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(octets, buffer.size()));
        const ssize_t got = base::uninterrupted([&] {
            return ::pread(from.descriptor, buffer.data(), most, static_cast<off_t>(from.at));
        });
        if (got < 0) return failed("cannot read");
        if (got == 0) return base::fail("the file ends at octet {}, too early", from.at);
        const ssize_t put = base::uninterrupted([&] {
            return ::pwrite(to.descriptor, buffer.data(), static_cast<std::size_t>(got),
                            static_cast<off_t>(to.at));
        });
        if (put <= 0) return failed("cannot write");
        from.at += static_cast<std::uint64_t>(put);
        to.at += static_cast<std::uint64_t>(put);
        octets -= static_cast<std::uint64_t>(put);
    }
    return {};
}

base::expected<void> copy_data(file_place from, file_place to, std::uint64_t octets) {
    while (octets > 0) {
        auto source = static_cast<off_t>(from.at);
        auto target = static_cast<off_t>(to.at);
        const ssize_t copied = base::uninterrupted([&] {
            return ::copy_file_range(from.descriptor, &source, to.descriptor, &target,
                                     static_cast<std::size_t>(octets), 0);
        });
        // Another file system, a device, an old kernel; or what reading and writing says better.
        if (copied <= 0) return copy_through_memory(from, to, octets);
        from.at += static_cast<std::uint64_t>(copied);
        to.at += static_cast<std::uint64_t>(copied);
        octets -= static_cast<std::uint64_t>(copied);
    }
    return {};
}

}  // namespace

base::expected<void> copy_sparse(file_place from, file_place to, std::uint64_t octets) {
    const std::uint64_t end = from.at + octets;
    // Behind its end a file would look like a hole.
    const off_t file_end = ::lseek(from.descriptor, 0, SEEK_END);
    if (file_end < 0) return failed("cannot tell the length");
    if (static_cast<std::uint64_t>(file_end) < end)
        return base::fail("the file ends at octet {}, too early", file_end);
    while (from.at < end) {
        const std::uint64_t data = next_border(from, end, SEEK_DATA);
        if (data > from.at) {
            const std::uint64_t hole = data - from.at;
            if (auto done = punch_hole(to, hole); !done) return done;
            from.at = data;
            to.at += hole;
            continue;
        }
        const bool few = end - from.at <= not_searched;
        const std::uint64_t length = (few ? end : next_border(from, end, SEEK_HOLE)) - from.at;
        if (length == 0) return base::fail("the file ends at octet {}, too early", from.at);
        if (auto done = copy_data(from, to, length); !done) return done;
        from.at += length;
        to.at += length;
    }
    return {};
}

base::expected<void> punch_hole(file_place at, std::uint64_t octets) {
    if (octets == 0) return {};
    const int done = base::uninterrupted([&] {
        return ::fallocate(at.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                           static_cast<off_t>(at.at), static_cast<off_t>(octets));
    });
    if (done != 0) return failed("cannot punch a hole");
    return {};
}

}  // namespace postal::audit
