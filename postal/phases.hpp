// What postal times and where it fails: the names that records and logs know.
//
// Phases are stretches of time with a latency histogram each; stages are the points of the dialogue
// at which an error is counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal {

enum class phase : std::uint8_t {
    connect,      // until the connection is made
    tls,          // a full handshake
    tls_resumed,  // one that resumed a session
    banner,       // from connected to the greeting
    ehlo,         // from EHLO to its reply
    auth,         // from AUTH to the reply that lets us in
    envelope,     // from the transaction's first octet to the go-ahead for the message
    data,         // from the message's first octet to the final reply
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

enum class stage : std::uint8_t {
    connect,
    tls,
    banner,
    ehlo,
    xclient,
    auth,
    mail,
    rcpt,
    data,
    end,
    rset,
    idle,
    quit
};

constexpr std::string_view to_text(stage where) noexcept {
    constexpr std::array<std::string_view, 13> names{"connect", "tls",  "banner", "ehlo", "xclient",
                                                     "auth",    "mail", "rcpt",   "data", "end",
                                                     "rset",    "idle", "quit"};
    return names[static_cast<std::size_t>(where)];
}

}  // namespace postal
