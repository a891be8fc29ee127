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

struct received {
    std::string_view helo{};    // as the client said it
    std::string_view client{};  // its address without a port, or "unix"
    std::string_view by{};      // our name
    std::string_view with{};    // "LMTP", "ESMTPS" (RFC 3848)
    std::string_view id{};
    std::string_view recipient{};  // empty: it does not say for whom
    std::chrono::system_clock::time_point when{};
};

// The whole field, folded, with CRLF.
[[nodiscard]] std::string received_header(const received& what);

}  // namespace postal::mail
