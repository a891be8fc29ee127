// SPDX-License-Identifier: GPL-3.0-or-later
// What a client has said on a connection, read without any of the code under test: which
// transactions it began, to whom, and whether all of each message left.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace simulation {

struct sent_transaction {
    std::size_t begins = 0;                      // the first octet of MAIL
    std::vector<std::string_view> recipients{};  // of which the whole command left
    bool complete = false;                       // the message, to its last octet
};

// The views point into `said`.
[[nodiscard]] std::vector<sent_transaction> transactions_in(std::string_view said);

}  // namespace simulation
