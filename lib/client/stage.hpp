// The points of a client's dialogue at which an error is counted: the names that records, logs and
// thresholds know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace postal::client {

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
    end,  // the reply behind the message
    rset,
    login,
    list,
    retrieve,
    remove,
    command,  // whatever else was asked over POP3 or IMAP
    idle,
    quit,
    check  // what a message turned out to be
};

constexpr std::string_view to_text(stage where) noexcept {
    constexpr std::array<std::string_view, 19> names{
        "connect", "tls",     "banner", "ehlo", "xclient", "auth", "mail",
        "rcpt",    "data",    "end",    "rset", "login",   "list", "retrieve",
        "delete",  "command", "idle",   "quit", "check"};
    return names[static_cast<std::size_t>(where)];
}

}  // namespace postal::client
