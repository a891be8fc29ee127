// SPDX-License-Identifier: GPL-3.0-or-later
// Where accepted mail ends: each message is examined as bhm does it, and its copies are written
// into the books; and then what the scenario has for it happens, of which only the truth knows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apparatus.hpp"
#include "books.hpp"
#include "ledger/examination.hpp"
#include "mailboxes.hpp"
#include "scenario.hpp"

namespace simulation {

class sink {
  public:
    // All must outlive it.
    // `store`: null where servers write down themselves what they see.
    sink(apparatus& with, const scenario& of, books& into, mailboxes* store)
        : with_(with), of_(of), books_(into), store_(store), examination_(with.lend()) {}
    ~sink() { with_.take_back(std::move(examination_)); }
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;

    // The message with these numbers is to come.
    void begin(std::uint64_t session, std::uint64_t sequence);
    void take(std::string_view content);
    // It is whole, and is described in the books' words.
    const postal::ledger::seen_row& finish(std::uint64_t time_us);
    // What is wrong with it that the scenario does not know of; empty: nothing.
    [[nodiscard]] std::string complaint() const;
    // Whoever is the first of all to get it suffers what the scenario has for it.
    void deliver(std::span<const std::string> to);

  private:
    void put(std::optional<harm> how);

    apparatus& with_;
    const scenario& of_;
    books& books_;
    mailboxes* store_;
    std::unique_ptr<postal::ledger::examination> examination_;
    std::uint64_t session_ = 0;
    std::uint64_t sequence_ = 0;
    std::uint64_t octets_ = 0;
    std::optional<harm> harm_;
    bool harmed_ = false;
    postal::ledger::seen_row row_;
    std::uint64_t size_ = 0;  // as it says itself
};

// What the scenario has for a message.
[[nodiscard]] std::optional<harm> harm_of(const scenario& of, std::uint64_t session,
                                          std::uint64_t sequence);

}  // namespace simulation
