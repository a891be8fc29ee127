// SPDX-License-Identifier: GPL-3.0-or-later
// What rabid times: stretches of time with a latency histogram each, by the names that records and
// logs know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/stage.hpp"

namespace postal::rabid {

enum class phase : std::uint8_t {
    connect,      // until the connection is made
    tls,          // a full handshake
    tls_resumed,  // one that resumed a session
    banner,       // from connected to the greeting
    login,        // from the first word about the account to the reply that lets us in
    list,         // from asking what is there to knowing it (POP3: STAT and lists; IMAP: SELECT)
    retrieve,     // from asking for a message to its last octet; of pipelined ones, from the one
                  // before
    remove,       // from the command that deletes to its reply
    session,    // a visit that succeeded, from the connection's beginning (open loop: from when it
                // was due) to its end
    service,    // the same from the connection's beginning
    announced,  // from when postal made a message until the server told of it (--watch): by the
                // first EXISTS that counts it, over POP3 by STAT
    delivery    // the same until it was seen: read whole
};
inline constexpr std::size_t phase_count = 12;

inline const std::vector<std::string>& phase_names() {
    static const std::vector<std::string> names{"connect", "tls",     "tls_resumed", "banner",
                                                "login",   "list",    "retrieve",    "delete",
                                                "session", "service", "announced",   "delivery"};
    return names;
}

using client::stage;

}  // namespace postal::rabid
