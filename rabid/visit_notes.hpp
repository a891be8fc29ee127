// SPDX-License-Identifier: GPL-3.0-or-later
// What a visit looked at of a mailbox, and what it told the server to remove, for the ledger: only
// with that can a message that is nowhere be called lost, and one that is gone vanished.
//
// Flow: begin(where); listing(); listed(n); looked_at(n, of) behind each reading, and left_out(why)
// where that was less for a reason that is known; end(problem).
// With --watch: watching() in place of readings, and nothing_new(since) whenever all that came in
// before was read. removing() before the server is told. Without a ledger none of these does
// anything.
// A visit is complete when one reading took every message that lay there when it began, and nothing
// speaks against it that it was all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ledger/row_buffer.hpp"
#include "ledger/rows.hpp"

namespace postal::rabid {

// Whose message it is; run 0: it has no identity of ours.
struct message_key {
    std::uint64_t run = 0;
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
};

class visit_notes {
  public:
    // Where the visit goes; null without a ledger.
    void begin(ledger::row_buffer* to, ledger::address_id mailbox, ledger::address_id server,
               ledger::way through);
    [[nodiscard]] bool wanted() const noexcept { return to_ != nullptr; }

    // The server is about to be asked what is there.
    void listing();
    void listed(std::uint64_t messages);
    // The server contradicts itself about what is there: nobody can have read all of it.
    void doubt_listing() noexcept { doubtful_ = true; }
    // Of `there` messages; the same ones count once.
    void looked_at(std::uint64_t messages, std::uint64_t there);
    // Why; a static text.
    void left_out(std::string_view why) noexcept { left_out_ = why; }
    void watching();
    // --watch-folders: another mailbox is watched as that of the visit is. And in which of them is
    // read from now on, by their order, 0 for that of the visit itself: gives that mailbox.
    void watch_too(ledger::address_id mailbox) { others_.push_back(mailbox); }
    ledger::address_id turn_to(std::size_t which);
    // Since the epoch: all that came in before was read.
    void nothing_new(std::uint64_t since_us);

    // --watch: a session waited so long; where and how it did is known here. Of stretches in which
    // the server was to tell only what is long enough to be held against it.
    void waited(ledger::wait_row row);
    // --watch over POP3: what was there at the beginning of the visit was read.
    void visited();

    void removing(const message_key& which, std::uint64_t uid, std::uint32_t uid_validity);

    struct ending {
        std::string_view problem;  // that the connection had, if any
        bool stopped = false;      // the run ends
    };
    void end(const ending& how);

  private:
    bool complete() const noexcept { return complete_ && !doubtful_; }
    std::string reason(const ending& how) const;

    ledger::row_buffer* to_ = nullptr;
    ledger::visit_row row_;
    std::vector<ledger::address_id> others_;
    ledger::address_id read_in_ = 0;
    std::string_view left_out_;
    bool listed_ = false;
    bool complete_ = false;
    bool doubtful_ = false;
    bool watching_ = false;
};

}  // namespace postal::rabid
