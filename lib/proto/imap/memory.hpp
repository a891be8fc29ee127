// SPDX-License-Identifier: GPL-3.0-or-later
// What a client keeps of a mailbox from one session to the next, to ask with QRESYNC what happened
// meanwhile (RFC 7162 3.2.5): UIDVALIDITY, a mod-sequence, and the UIDs that it knows.
//
// Flow: imap_memory kept = mailbox.remember(); ... in the next session:
//       if (kept.usable()) { kept.append_uids(text); commands.select(..., {kept's values}); }
// Nothing fails. Bounded: most_ranges ranges of UIDs (2 KiB, and lines that servers take); a
// mailbox whose known UIDs take more is remembered by as many of them, the lowest, and `complete`
// is false.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/imap/codes.hpp"

namespace postal::proto {

struct imap_memory {
    static constexpr std::size_t most_ranges = 256;

    std::uint32_t uid_validity = 0;
    std::uint64_t modseq = 0;
    std::vector<imap_range> uids{};  // ascending, apart
    bool complete = false;           // of every message that was there

    // SELECT may ask with it.
    [[nodiscard]] bool usable() const noexcept { return uid_validity != 0 && modseq != 0; }
    [[nodiscard]] std::uint64_t count() const noexcept;
    // Ascending UIDs, zeros are passed over.
    void learn(std::span<const std::uint32_t> known);
    // Ranges in any order, which may overlap.
    void forget(std::vector<imap_range> gone);
    // As a sequence set, "1:5,7"; nothing when there are none.
    void append_uids(std::string& out) const;
};

}  // namespace postal::proto
