// What rabid times and where it fails: the names that records and logs know.
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
    session,      // from the connection's beginning to its end
    delivery      // from when postal made a message until it was seen (--watch)
};
inline constexpr std::size_t phase_count = 10;

inline const std::vector<std::string>& phase_names() {
    static const std::vector<std::string> names{"connect", "tls",     "tls_resumed", "banner",
                                                "login",   "list",    "retrieve",    "delete",
                                                "session", "delivery"};
    return names;
}

enum class stage : std::uint8_t {
    connect,
    tls,
    banner,
    login,
    list,
    retrieve,
    remove,
    command,  // whatever else was asked
    idle,
    quit,
    check  // what a message turned out to be
};

constexpr std::string_view to_text(stage where) noexcept {
    constexpr std::array<std::string_view, 11> names{"connect", "tls",      "banner", "login",
                                                     "list",    "retrieve", "delete", "command",
                                                     "idle",    "quit",     "check"};
    return names[static_cast<std::size_t>(where)];
}

}  // namespace postal::rabid
