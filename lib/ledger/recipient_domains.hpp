// SPDX-License-Identifier: GPL-3.0-or-later
// To which domains the messages of a ledger went.
//
// A domain is what stands behind an address's last "@", in lower case as addresses are; "" for an
// address without one, or one of a thousand characters, which only a tampered ledger has. Memory
// does not grow with the number of addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "ledger/database.hpp"

namespace postal::ledger {

class recipient_domains {
  public:
    // `file` must outlive this.
    static base::expected<recipient_domains> look_up(database& file,
                                                     const std::vector<std::string>& names);

    // The place among the names of the domain of the address with that number, or how many names
    // there are when it has another. From the first failure on all have another; see result().
    std::size_t place_of(std::int64_t address);
    // SQLITE_OK, or what has failed.
    [[nodiscard]] int result() const noexcept { return result_; }

  private:
    struct known_address {
        std::int64_t number = 0;
        std::size_t place = 0;
    };

    recipient_domains(statement ask, const std::vector<std::string>& names);
    std::size_t ask_place_of(std::int64_t address);

    statement ask_;
    std::unordered_map<std::string, std::size_t> places_;
    std::size_t elsewhere_;
    std::vector<known_address>
        recent_;  // by the lowest digits of their numbers; none before the first
    int result_ = SQLITE_OK;
};

// The domains to which most messages were acknowledged, most first, at most that many.
base::expected<std::vector<std::string>> largest_domains(database& file, std::size_t most);

}  // namespace postal::ledger
