// SPDX-License-Identifier: GPL-3.0-or-later
// What a recorded run leaves in its folder, so that each cut can be had again: the log of the
// disk's writes, the sender's ledger, and, in recording.json, which part of the log belongs to the
// load and which time to each place in it.
//
// Schema "postal-recording/1". Fails with one line that names the file.
#pragma once

#include "base/result.hpp"
#include "postal-audit/log_watch.hpp"
#include "postal-audit/write_log.hpp"
#include "stats/record_fields.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::audit {

struct recording {
    std::uint64_t disk_octets = 0;
    std::size_t first = 0;      // entries of the log when the load began
    std::size_t last = 0;       // and when it had ended
    std::int64_t begin_us = 0;  // since the epoch
    std::int64_t end_us = 0;
    double longest_gap_s = 0;             // between two looks at the log
    std::string started{};                // ISO 8601, UTC
    std::string mounted{};                // the line of /proc/mounts
    std::vector<std::int64_t> last_us{};  // of first, first + 1, ... last entries: when the log was
                                          // last seen with no more

    // What was acknowledged until then was acknowledged before a cut at so many entries.
    [[nodiscard]] std::int64_t time_of(std::size_t entries) const;
};

// What stands in recording.json; see stats/record_fields.hpp.
template <class Archive>
void fields(Archive& each, stats::field<Archive, recording>& of) {
    stats::plain_fields<true>(each, "started", of.started, "mounted", of.mounted, "disk_octets",
                              of.disk_octets, "first", of.first, "last", of.last, "begin_us",
                              of.begin_us, "end_us", of.end_us, "longest_gap_s", of.longest_gap_s,
                              "last_us", of.last_us);
}

[[nodiscard]] std::string log_in(const std::string& folder);
[[nodiscard]] std::string ledger_in(const std::string& folder);

[[nodiscard]] base::expected<void> keep(const recording& one, const std::string& folder);
[[nodiscard]] base::expected<recording> read_recording(const std::string& folder);
// Whether there were so many entries at some time of the load of that variant.
[[nodiscard]] base::expected<void> check_cut(const recording& of, std::string_view variant,
                                             std::size_t entries);
[[nodiscard]] bool is_recorded(const std::string& folder);

}  // namespace postal::audit
