// SPDX-License-Identifier: GPL-3.0-or-later
// What postal times: stretches of time with a latency histogram each, by the names that records and
// logs know. message_outcomes.cpp records a message's, the session and its channel the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace postal::sender {

enum class phase : std::uint8_t {
    connect,      // until the connection is made
    tls,          // a full handshake
    tls_resumed,  // one that resumed a session
    banner,       // from connected to the greeting
    ehlo,         // from EHLO to its reply
    auth,         // from AUTH to the reply that lets us in
    envelope,     // from the transaction's first octet to the go-ahead for the message
    data,         // from the message's first octet, or the reply to the message before where that
                  // came later, to the final reply
    message,      // response time: from when it was due to the final reply
    service       // service time: from the transaction's first octet to the final reply
};
inline constexpr std::size_t phase_count = 10;

inline const std::vector<std::string>& phase_names() {
    static const std::vector<std::string> names{"connect", "tls",    "tls_resumed", "banner",
                                                "ehlo",    "auth",   "envelope",    "data",
                                                "message", "service"};
    return names;
}

}  // namespace postal::sender
