// SPDX-License-Identifier: GPL-3.0-or-later
// The messages of the mechanisms with tokens: OAUTHBEARER (RFC 7628 3.1) and XOAUTH2 (as Google and
// Microsoft document it). Plain text in and out; a token is checked when it is loaded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sasl/credentials.hpp"

namespace postal::sasl {

// The only message that a client has.
std::string bearer_message(mechanism which, const credentials& mine);

// What a client says to the challenge that explains a refusal.
std::string_view bearer_farewell(mechanism which) noexcept;

// What a server explains it with.
std::string_view bearer_refusal() noexcept;

// What a server reads; nothing when the message has not the mechanism's form.
struct bearer_claim {
    std::string user;  // empty: the token says who
    std::string token;
};
std::optional<bearer_claim> read_bearer_message(mechanism which, std::string_view message);

// Whether it can stand behind "Bearer " (RFC 6750 2.1).
bool is_token(std::string_view text) noexcept;

}  // namespace postal::sasl
