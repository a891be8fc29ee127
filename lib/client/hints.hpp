// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody may try who sees a client's error for the first time: above all that the server at
// that place speaks another protocol than the one that was asked for.
//
// hint_for() goes by what the server said, which is only a guess: it proposes, and names the
// options that would change it. Pure; nothing here fails.
#pragma once

#include <cstdint>
#include <string>

#include "client/load_plan.hpp"
#include "stats/first_errors.hpp"

namespace postal::client {

enum class dialect : std::uint8_t { smtp, lmtp, mailbox };  // the last: POP3 and IMAP

struct spoken {
    dialect language = dialect::smtp;
    bool tls = false;  // of some connections
    tls_mode mode = tls_mode::starttls;
    bool overlaps = false;  // an envelope goes out behind the final dot before it

    bool begins_with_tls() const noexcept { return tls && mode == tls_mode::implicit; }
};

// One sentence without a full stop; empty when nothing comes to mind.
std::string hint_for(const stats::first_error& error, const spoken& by_us);

}  // namespace postal::client
