// SPDX-License-Identifier: GPL-3.0-or-later
// Which mailboxes readers have looked at, and until when: whether a message that is nowhere was
// looked for.
//
// Flow: coverage where; where.add(visit) in order of mailboxes, each visit once; where.finish();
//       then read_until(mailbox), watched(mailbox, time), reason(mailbox).
// Servers that let a reader in are stores of their own, each protocol for itself. A mailbox was
// read up to a time when, over one protocol, each of its stores was read completely after that: the
// protocols are thought to show the same mail, while a server that let nobody in may have none.
// Memory: some 100 octets for each mailbox, its reason, and 16 octets for each watch of it. Nothing
// fails.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/rows.hpp"

namespace postal::ledger {

// A row of `visits`, with the numbers of the file.
struct visit_entry {
    std::int64_t mailbox = 0;
    std::int64_t server = 0;
    way through = way::pop3;
    extent what = extent::nothing;
    std::int64_t began_us = 0;
    std::int64_t ended_us = 0;
    std::string reason{};
    std::int64_t observer = 0;
};

class coverage {
  public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

    void add(visit_entry one);
    void finish();

    // A reader has asked for it, whether it was let in or not.
    [[nodiscard]] bool visited(std::int64_t mailbox) const { return mailboxes_.contains(mailbox); }
    // What lay there before that was read whole by a reader that came then; `never`.
    [[nodiscard]] std::int64_t read_until(std::int64_t mailbox) const;
    // What came in then was read.
    [[nodiscard]] bool watched(std::int64_t mailbox, std::int64_t time_us) const;
    // Over POP3, where messages have no place, the observer has read only a part of it at least
    // once, so that when it saw a message says nothing of the order.
    [[nodiscard]] bool read_in_parts(std::int64_t mailbox, std::int64_t observer) const;
    // A reader has asked for it, and the latest visit that read less than all did so for what the
    // server did, and not because the reader wanted no more.
    [[nodiscard]] bool refused(std::int64_t mailbox) const;
    // Why what is missing was not looked for, in words; they come from servers, too.
    [[nodiscard]] std::string reason(std::int64_t mailbox) const;

  private:
    struct time_span {
        std::int64_t from_us = 0;
        std::int64_t until_us = 0;
    };
    struct mailbox_state {
        std::int64_t read_until_us = never;
        std::vector<time_span> watched{};
        std::vector<std::int64_t> in_parts{};  // by whom, in order
        std::string reason{};
        bool refused = false;
    };

    void judge_mailbox();

    std::vector<visit_entry> of_one_;  // mailbox
    std::unordered_map<std::int64_t, mailbox_state> mailboxes_;
};

}  // namespace postal::ledger
