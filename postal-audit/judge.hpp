// SPDX-License-Identifier: GPL-3.0-or-later
// What must be there after a power cut, and what is: the sender's ledger held against that of who
// looked afterwards (a reader of mailboxes, or a sink into which a queue drained).
//
// Required is each recipient's message that the sender had been told to be accepted at or before a
// time; what was accepted later or not at all may be there or not, and is not counted. Judged by
// ledger::reconciler, as in every report of a ledger, but for one thing: who reads after a cut asks
// for a mailbox until it is let in or refused for good, so that what is in one that was refused
// counts as lost. Of several copies the condition of the first that was seen counts.
//
// Fails with one line where the ledgers do not allow a judgement: one is no ledger, the sender's
// has no sender or holds sightings too, a run in it has not ended, nobody has looked, whoever
// looked has not ended so that a message that is missing may only be unread, or a mailbox with mail
// that is required was left alone, or in part, though nobody was refused there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/record.hpp"
#include "base/result.hpp"

namespace postal::audit {

// Recipients' messages. acknowledged = found + lost + misplaced; the others are among those found.
struct judged {
    std::uint64_t acknowledged = 0;
    std::uint64_t found = 0;  // in the recipient's mailbox, in whatever condition
    std::uint64_t lost = 0;
    std::uint64_t misplaced = 0;  // in another's mailbox only
    std::uint64_t duplicated = 0;
    std::uint64_t truncated = 0;
    std::uint64_t changed = 0;                   // corrupt in another way
    std::optional<std::int64_t> oldest_lost_us;  // when it was acknowledged, since the epoch
    std::vector<lost_message> first_lost;        // at most most_told, in the sender's order
    static constexpr std::size_t most_told = 5;
};

// How many were acknowledged until then, whoever looked.
[[nodiscard]] base::expected<std::uint64_t> count_acknowledged(const std::string& sent_ledger,
                                                               std::int64_t until_us);

[[nodiscard]] base::expected<judged> judge(const std::string& sent_ledger,
                                           const std::string& seen_ledger,
                                           std::int64_t acknowledged_until_us);

}  // namespace postal::audit
