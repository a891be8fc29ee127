// SPDX-License-Identifier: GPL-3.0-or-later
// Received, the trace header that each server adds in front of a message (RFC 5321 4.4).
//
// What a client calls itself may be anything: unless it is a domain or an address literal, the
// header says "unknown". Addresses stand there as the envelope had them; they must have come
// through the parser of addresses, which lets no control character in. Nothing here fails.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace postal::mail {

// How a message came: "with ESMTPSA" (RFC 3848), "with UTF8LMTP" (RFC 6531 4.3).
struct transmission {
    bool lmtp = false;
    bool extended = true;  // EHLO or LHLO
    bool utf8 = false;     // MAIL had SMTPUTF8
    bool secure = false;   // TLS
    bool authenticated = false;
};

struct received {
    std::string_view helo{};    // as the client said it
    std::string_view client{};  // its address without a port, or "unix"
    std::string_view by{};      // our name
    transmission how{};
    std::string_view id{};
    std::string_view recipient{};  // empty: it does not say for whom
    std::chrono::system_clock::time_point when{};
};

// The whole field, folded, with CRLF.
[[nodiscard]] std::string received_header(const received& what);

}  // namespace postal::mail
