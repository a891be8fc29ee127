// SPDX-License-Identifier: GPL-3.0-or-later
// When an IMAP session that watches a mailbox was told of each message in it: by the first EXISTS
// that counts it (RFC 3501 7.3.1), in IDLE (RFC 2177) or in the answer to a command.
//
// Flow: begin(there) with what lay there before; idle_said() and done_said() as IDLE is said and
// ended; take() each step before the mailbox does, with the time of the read that brought it;
// of(number) while a message is read; forget(number) when all up to that one are read.
// An EXISTS behind IDLE and before its continuation request is no error (RFC 3501 7: a client must
// take untagged data at any time), but a client that waits for the request may miss it: it is
// `early`. One that counts less than before, without EXPUNGE, has taken messages back.
// Numbers fall as messages go. VANISHED (RFC 7162) names UIDs, which are thought to be of messages
// that were read. Nothing fails. Memory: 16 octets for each EXISTS of which messages are not read
// yet, most_kept of them; what more of them tell of counts as told of with the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ledger/rows.hpp"
#include "proto/imap/responses.hpp"

namespace postal::rabid {

// When a session was told of a message, and how; time_us 0: it was not.
struct announcement {
    std::uint64_t time_us = 0;
    ledger::notice how = ledger::notice::poll;
};

class announcements {
  public:
    static constexpr std::size_t most_kept = 10'000;

    // The mailbox is watched from here; `how` is what an EXISTS is of which nothing else is known:
    // `answer` of a session that uses IDLE, `notify` of one by NOTIFY, else `poll`.
    void begin(std::uint32_t there, ledger::notice how);
    [[nodiscard]] bool watching() const noexcept { return watching_; }
    // Another mailbox is about to be selected.
    void end() noexcept { watching_ = false; }

    void idle_said() noexcept { how_ = ledger::notice::early; }
    void done_said() noexcept { how_ = ledger::notice::answer; }

    // What an EXISTS came to.
    struct news {
        std::uint32_t messages = 0;    // that it is the first to count
        std::uint32_t taken_back = 0;  // that were counted before, and are not any more
        ledger::notice how = ledger::notice::poll;
    };
    news take(const proto::imap_step& step, std::uint64_t time_us);

    [[nodiscard]] announcement of(std::uint32_t number) const noexcept;
    void forget(std::uint32_t up_to);

  private:
    // Messages up to `last`, behind those of the one before.
    struct told_of {
        announcement what;
        std::uint32_t last = 0;
    };

    news on_exists(std::uint64_t count, std::uint64_t time_us);
    void on_gone(std::uint64_t number);

    std::vector<told_of> kept_;
    std::uint32_t base_ = 0;   // up to there all are read, or lay there before
    std::uint32_t there_ = 0;  // as the last EXISTS has it, less what has gone
    ledger::notice how_ = ledger::notice::poll;
    bool watching_ = false;
};

}  // namespace postal::rabid
