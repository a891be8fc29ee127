// SPDX-License-Identifier: GPL-3.0-or-later
// How long after a message was accepted a reader was told of it, as a ledger knows it: of all
// messages that were looked for while a reader waited, of those who waited in one way at one
// server, and of single accounts.
//
// What was never announced lies above all that was. Memory: for each account some 60 octets; a
// histogram for each of the first most_parts ways and servers, the others are told together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ledger/reader.hpp"
#include "postal-report/relay_flow.hpp"
#include "report/table.hpp"

namespace postal::report {

struct announced_times {
    std::uint64_t messages = 0;
    transit_times times;

    void add(std::optional<std::int64_t> after_us) noexcept;
    [[nodiscard]] std::uint64_t never() const noexcept { return messages - times.count(); }
    // Of that share of all; nothing where it lies among what was never announced.
    [[nodiscard]] std::optional<double> us(double q) const noexcept {
        return times.quantile_us(q, messages);
    }
};

struct announced_account {
    std::string name;
    std::uint64_t messages = 0;
    std::uint64_t never = 0;
    std::int64_t longest_us = 0;  // of those that were announced
};

class announced_report {
  public:
    static constexpr std::size_t most_parts = 64;
    static constexpr std::size_t most_accounts = 20;

    void add(const ledger::told_of& one);
    // Names of servers and accounts, behind all messages.
    base::expected<void> name(ledger::reader& book);

    [[nodiscard]] const announced_times& all() const noexcept { return all_; }
    // Empty when no message counts.
    [[nodiscard]] table by_way() const;
    // The accounts with most that was never announced, and then with the longest time.
    [[nodiscard]] table by_account() const;

  private:
    using part = std::pair<std::int64_t, ledger::waiting>;

    announced_times all_;
    announced_times others_;
    std::map<part, announced_times> parts_;
    std::map<std::int64_t, std::string> servers_;
    std::unordered_map<std::int64_t, announced_account> counted_;
    std::vector<announced_account> worst_;
};

}  // namespace postal::report
