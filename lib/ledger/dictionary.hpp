// SPDX-License-Identifier: GPL-3.0-or-later
// The addresses of one writer: a small number for each, asked by many threads.
//
// Case does not matter: addresses are kept in lower case. Limits: what was asked once is kept,
// about 150 octets for each different address.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ledger/rows.hpp"

namespace postal::ledger {

class dictionary {
  public:
    // From any thread; the first one is 1.
    address_id number(std::string_view address);
    // Of a number that was given.
    std::string text(address_id number) const;

  private:
    mutable std::mutex mutex_;  // guards what follows
    std::deque<std::string> texts_;
    std::unordered_map<std::string_view, address_id> numbers_;  // views of the texts
};

}  // namespace postal::ledger
