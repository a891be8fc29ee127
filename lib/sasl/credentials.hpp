// SPDX-License-Identifier: GPL-3.0-or-later
// What a client authenticates with, and what it knows of the server.
#pragma once

#include <cstdint>
#include <string_view>

#include "sasl/mechanism.hpp"

namespace postal::sasl {

// Must hold as long as what is made with it. What a mechanism does not need is ignored.
struct credentials {
    std::string_view user{};
    std::string_view password{};
    std::string_view token{};
    std::string_view authorization_identity{};  // empty: the user's own
    std::string_view channel_binding{};         // tls-exporter (RFC 9266); empty: it is not known
    mechanism_set offered{};                    // by the server
    std::string_view host{};                    // of the server
    std::string_view service{};                 // "smtp", "pop", "imap"
    std::uint16_t port = 0;
};

}  // namespace postal::sasl
