// SPDX-License-Identifier: GPL-3.0-or-later
// What a server offers in its reply to EHLO or LHLO (RFC 5321 4.1.1.1, RFC 2033 4.1).
//
// Flow: capabilities offered; for each line of the reply but the first: offered.add(text);
//
// Keywords are compared without regard to case; unknown ones are passed over. Nothing here fails.
#pragma once

#include <string_view>

namespace postal::proto {

struct capabilities {
    bool pipelining = false;      // RFC 2920
    bool chunking = false;        // RFC 3030
    bool eight_bit_mime = false;  // RFC 6152
    bool smtputf8 = false;        // RFC 6531
    bool starttls = false;        // RFC 3207
    bool xclient = false;         // Postfix's, with ADDR
    bool size = false;            // RFC 1870
    bool dsn = false;             // RFC 3461

    void add(std::string_view line) noexcept;
};

// The mechanisms of the line "AUTH PLAIN LOGIN" (RFC 4954 3), or of "AUTH=PLAIN LOGIN", as servers
// say to please clients of before that; empty for other lines.
std::string_view auth_mechanisms(std::string_view line) noexcept;

}  // namespace postal::proto
