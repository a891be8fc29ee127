// SPDX-License-Identifier: GPL-3.0-or-later
// Whether and when the readers that waited for a message were told of it.
//
// Flow: told_judge judge(waits); for each acknowledged recipient's message that was looked for:
// judge.add(message), then after_us(), parts() and missed().
//
// A message is counted where a reader waited for it: from a second before it was accepted (a
// message may be delivered before it is acknowledged) until told_within_us after that. When it was
// announced is the earliest that a session was told of it. What was never announced, and was
// removed by a reader of the ledger, is not counted: who is told of it late cannot read it any
// more, and so cannot say so.
//
// A session has missed a notification of a message when
//   - it had opened the mailbox a second or more before the message was accepted,
//   - the message was there while it was in IDLE, or while the server had agreed to tell it by
//     NOTIFY: another session was told of it or read it then,
//     or it has an INTERNALDATE then, of which the end of its second counts, or the acceptance
//     where that is later,
//   - it stayed so for told_within_us and more from then on, ended that in order, and up to
//     that end was not told,
//   - and until that end no reader had told the server to remove the message.
// All by the same server. So a session does not count that was in neither, had begun it later,
// ended it too early, or whose connection was lost; nor what only a POP3 visit found afterwards,
// which does not say since when it was there. Times compare the clocks of sender, readers and, with
// INTERNALDATE, the server.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ledger/waits.hpp"

namespace postal::ledger {

struct seen_entry;
struct removed_entry;

// Of one server, to sessions that wait in one way.
struct told_part {
    std::int64_t server = 0;
    waiting how = waiting::idling;
    std::optional<std::int64_t> after_us{};  // its acceptance; nothing: never
};

struct told_message {
    std::int64_t accepted_us = 0;
    std::int64_t mailbox = 0;
    std::span<const seen_entry> here{};  // the sightings in that mailbox
    std::span<const removed_entry> removed{};
};

class told_judge {
  public:
    explicit told_judge(waits all) : waits_(std::move(all)) {}

    void add(const told_message& one);

    // It was waited for, and so counts.
    [[nodiscard]] bool counts() const noexcept { return counts_; }
    // When anybody was told; nothing: nobody was.
    [[nodiscard]] std::optional<std::int64_t> after_us() const noexcept { return after_us_; }
    [[nodiscard]] std::span<const told_part> parts() const noexcept { return parts_; }
    // Rows of `waits`: the stretches in which it was not told of.
    [[nodiscard]] std::span<const std::int64_t> missed() const noexcept { return missed_; }

  private:
    void find_parts(const told_message& one);
    void find_missed(const told_message& one);

    waits waits_;
    std::vector<told_part> parts_;
    std::vector<std::int64_t> missed_;
    std::vector<std::int64_t> servers_;  // that have shown the message in hand
    std::optional<std::int64_t> after_us_;
    bool counts_ = false;
};

}  // namespace postal::ledger
