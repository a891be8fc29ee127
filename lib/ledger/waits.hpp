// SPDX-License-Identifier: GPL-3.0-or-later
// While readers waited for mail, by mailbox: what a server could have told them of.
//
// Flow: waits all; all.add(mailbox, one) in order of mailboxes; all.finish(); then
// for_waiting(mailbox, when, what to do) and for_stretches(mailbox, when, what to do).
// Memory: some 80 octets for each row, of which a session writes one, and one more for each stretch
// in IDLE or by NOTIFY of told_within_us or longer. Time: no file makes one question take longer
// than most_groups searches, and most_looked_at rows. Nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ledger/rows.hpp"

namespace postal::ledger {

// A row of `waits`, with the numbers of the file.
struct wait_entry {
    std::int64_t number = 0;
    std::int64_t observer = 0;
    std::int64_t session = 0;
    std::int64_t server = 0;
    std::int64_t opened_us = 0;
    std::int64_t began_us = 0;
    std::int64_t ended_us = 0;
    waiting how = waiting::idling;
};

class waits {
  public:
    void add(std::int64_t mailbox, const wait_entry& one);
    void finish();

    // Of a mailbox the first so many servers and ways to wait count.
    static constexpr std::size_t most_groups = 64;
    static constexpr std::size_t most_looked_at = 10'000;

    // Each server and way of which somebody had opened the mailbox by `opened_us` and had it open,
    // or visited it, until `until_us`.
    void for_waiting(std::int64_t mailbox, std::int64_t opened_us, std::int64_t until_us,
                     const std::function<void(std::int64_t server, waiting how)>& each) const;
    // Each stretch in IDLE or by NOTIFY that had begun at `since_us` and had not ended at
    // `until_us`, of the last most_looked_at that had begun.
    void for_stretches(std::int64_t mailbox, std::int64_t since_us, std::int64_t until_us,
                       const std::function<void(const wait_entry&)>& each) const;

  private:
    // The rows of one kind of a mailbox stand together.
    struct rows {
        std::vector<wait_entry> all;
        std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>> places;

        void add(std::int64_t mailbox, const wait_entry& one);
        [[nodiscard]] std::span<const wait_entry> of(std::int64_t mailbox) const;
    };

    // Of one server and one way, by when they opened.
    struct group {
        std::int64_t server = 0;
        waiting how = waiting::idling;
        std::size_t first = 0;
        std::size_t count = 0;
    };
    void make_groups(std::int64_t mailbox, std::size_t first, std::size_t count);

    rows stays_;
    std::unordered_map<std::int64_t, std::vector<group>> groups_;  // by mailbox
    rows stretches_;                                               // by when they began
    // When the last of those up to there had ended.
    std::vector<std::int64_t> stays_reach_;
    std::vector<std::int64_t> reach_;
};

}  // namespace postal::ledger
