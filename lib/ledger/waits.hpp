// SPDX-License-Identifier: GPL-3.0-or-later
// While readers waited for mail, by mailbox: what a server could have told them of.
//
// Flow: waits all; all.add(mailbox, one) in order of mailboxes; all.finish(); then stays(mailbox)
// and for_idle(mailbox, when, what to do).
// Memory: some 64 octets for each row, of which a session writes one, and one more for each stretch
// in IDLE of told_within_us or longer. Nothing fails.
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

    // As long as the mailbox was open, or visited.
    [[nodiscard]] std::span<const wait_entry> stays(std::int64_t mailbox) const;
    // Each stretch in IDLE that had begun at `since_us` and had not ended at `until_us`.
    void for_idle(std::int64_t mailbox, std::int64_t since_us, std::int64_t until_us,
                  const std::function<void(const wait_entry&)>& each) const;

  private:
    // The rows of one kind of a mailbox stand together.
    struct rows {
        std::vector<wait_entry> all;
        std::unordered_map<std::int64_t, std::pair<std::size_t, std::size_t>> places;

        void add(std::int64_t mailbox, const wait_entry& one);
        [[nodiscard]] std::span<const wait_entry> of(std::int64_t mailbox) const;
    };

    rows stays_;
    rows idle_;                        // by when they began
    std::vector<std::int64_t> reach_;  // when the last of those up to there had ended
};

}  // namespace postal::ledger
