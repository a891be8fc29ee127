// SPDX-License-Identifier: GPL-3.0-or-later
// The mailboxes into which simulated servers deliver where readers look into them, and what they
// have read: visits as rabid makes them, each at one moment, with the rows that it writes.
//
// A visit reads all or some of what lies there, may break off, and removes some of what it has
// read. What the scenario has vanish is gone some time after it came, and nobody has a row of that.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "books.hpp"
#include "ledger/coverage.hpp"
#include "ledger/reconciler.hpp"
#include "ledger/rows.hpp"
#include "scenario.hpp"
#include "timeline.hpp"

namespace simulation {

using postal::ledger::address_id;

// Behind all users of a run: whom harmed mail is delivered to in their place.
inline constexpr std::string_view somebody_else = "else@example.com";

class mailboxes {
  public:
    struct copy {
        postal::ledger::seen_row what;  // as it was delivered
        std::uint64_t uid = 0;
        steady_time vanishes = steady_time::max();
        bool removed = false;  // by a reader
        // When readers saw it last, by way.
        std::map<postal::ledger::way, steady_time> read{};
    };
    using message_number = std::pair<std::uint64_t, std::uint64_t>;  // session, sequence
    static constexpr nanoseconds vanish_after = std::chrono::seconds(20);

    // Both must outlive it.
    mailboxes(timeline& time, const scenario& of, books& into)
        : time_(time), of_(of), books_(into) {}

    void deliver(const postal::ledger::seen_row& row, bool vanishes);
    void visit(const reader_visit& how);

    // Rows as the ledger has them.
    [[nodiscard]] const std::vector<postal::ledger::visit_entry>& visits() const noexcept {
        return visits_;
    }
    using removed_rows = std::map<message_number, std::vector<postal::ledger::removed_entry>>;
    [[nodiscard]] const removed_rows& removed() const noexcept { return removed_; }

    // The truth: all copies that there ever were of a mailbox, and when all of it was read last.
    [[nodiscard]] const std::map<address_id, std::vector<copy>>& all() const noexcept {
        return all_;
    }
    [[nodiscard]] bool visited(address_id mailbox) const { return read_whole_.contains(mailbox); }
    // The beginning of the clock, if never.
    [[nodiscard]] steady_time read_whole(address_id mailbox) const {
        const auto found = read_whole_.find(mailbox);
        return found == read_whole_.end() ? steady_time() : found->second;
    }

  private:
    bool read_some(address_id mailbox, const reader_visit& how);
    void read(copy& one, const reader_visit& how);
    void remove(copy& one, const reader_visit& how);

    timeline& time_;
    const scenario& of_;
    books& books_;
    std::map<address_id, std::vector<copy>> all_;
    std::map<address_id, steady_time> read_whole_;
    std::vector<postal::ledger::visit_entry> visits_;
    removed_rows removed_;
    std::uint64_t last_uid_ = 0;
};

// The address of the user with that number; behind the last, somebody else's.
[[nodiscard]] std::string user_address(std::uint32_t number);

}  // namespace simulation
