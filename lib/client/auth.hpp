// SPDX-License-Identifier: GPL-3.0-or-later
// How clients authenticate: what was chosen, the token, and which mechanism it is on one
// connection.
//
// Flow: auth_plan::make() loads the token; on each connection choose_mechanism() once the server
// has said what it offers.
//
// A mechanism that shows the password or the token to whoever listens (PLAIN, LOGIN, OAUTHBEARER,
// XOAUTH2) is refused on a connection without TLS, and never chosen, unless --auth-insecure was
// given. A mechanism that was named must be offered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error_names.hpp"
#include "base/result.hpp"
#include "sasl/mechanism.hpp"

namespace postal::client {

enum class auth_way : std::uint8_t { without_sasl, strongest, named };

struct auth_options {
    auth_way way = auth_way::without_sasl;
    sasl::mechanism named = sasl::mechanism::plain;
    std::string token_file;
    bool insecure = false;

    bool wanted() const noexcept { return way != auth_way::without_sasl; }
};

struct auth_plan {
    auth_options chosen;
    std::string token;                // of the file; empty without one
    bool client_certificate = false;  // there is one for EXTERNAL

    // Fails on a token file that cannot be read or holds no token, and on options without --auth.
    static base::expected<auth_plan> make(const auth_options& chosen);

    // Whether every account needs a password (or a token in its place) in the user list.
    bool needs_passwords() const noexcept;
    // What is to be sent as a token for an account with this password.
    std::string_view token_for(std::string_view password) const noexcept {
        return token.empty() ? password : std::string_view(token);
    }
};

// What is known of a connection and of the account that it is for.
struct auth_situation {
    sasl::mechanism_set offered;
    bool secure = false;           // TLS
    bool channel_binding = false;  // its tls-exporter is known
    bool password = true;
    bool tls_offered = false;  // and not begun
};

struct auth_choice {
    std::optional<sasl::mechanism> which;
    base::error_name problem;  // one word, when there is none
    std::string words;
};
auth_choice choose_mechanism(const auth_plan& plan, const auth_situation& on);

// "PLAIN: 5.7.8 no": what is told of an error, with the mechanism in front.
std::string with_name(sasl::mechanism which, std::string_view words);

}  // namespace postal::client
