// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger of a run without its file: rows as its sender and its sink write them, with the
// numbers that addresses have in both.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/rows.hpp"
#include "postal/ledger_entries.hpp"

namespace simulation {

class books final : public postal::sender::sent_rows {
  public:
    void add(const postal::ledger::sent_row& row) override { sent_.push_back(row); }
    void add(const postal::ledger::seen_row& row) { seen_.push_back(row); }
    postal::ledger::address_id address(std::string_view text) override {
        const auto known = addresses_.find(text);
        if (known != addresses_.end()) return known->second;
        const auto next = static_cast<postal::ledger::address_id>(addresses_.size() + 1);
        addresses_.emplace(text, next);
        return next;
    }

    [[nodiscard]] const std::vector<postal::ledger::sent_row>& sent() const noexcept {
        return sent_;
    }
    [[nodiscard]] const std::vector<postal::ledger::seen_row>& seen() const noexcept {
        return seen_;
    }

  private:
    std::vector<postal::ledger::sent_row> sent_;
    std::vector<postal::ledger::seen_row> seen_;
    std::map<std::string, postal::ledger::address_id, std::less<>> addresses_;
};

}  // namespace simulation
