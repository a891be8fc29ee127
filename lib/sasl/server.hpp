// SPDX-License-Identifier: GPL-3.0-or-later
// The server's side of one SASL exchange (RFC 4422), in octets.
//
// Flow:
//   server they(worker's context, mechanism, situation);
//   progress = they.begin(challenge);                 when the client gave no initial response
//   progress = they.step(response, challenge);        for it, and for each response
//     go_on   say the challenge      done  user() is in      failed  it is not, for problem()
// Clients that say the name at once in LOGIN, as some do, are understood.
//
// Of SCRAM the last challenge, with the server's signature, is answered with nothing and then done
// (RFC 5802 5; SMTP has no data beside success).
//
// Passwords come from the owner's look_up, which gives null for nobody; an empty one admits nobody.
// The authorization identity must be empty or the user's own. ANONYMOUS admits everybody, as user
// "anonymous", EXTERNAL those whom the connection is known to be for. What SCRAM stores is made
// once for each user and context, with one salt for the process. Nothing takes constant time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sasl/client.hpp"
#include "sasl/context.hpp"
#include "sasl/mechanism.hpp"

namespace postal::sasl {

using password_of = std::function<const std::string*(std::string_view user)>;

// Must hold as long as the server does.
struct situation {
    const password_of& look_up;
    std::string_view host{};
    std::string_view service{};
    std::string_view channel_binding{};  // tls-exporter; only where -PLUS was announced
    std::string_view certified{};        // whose certificate was verified; for EXTERNAL
};

class server {
  public:
    // Some mechanisms would ask again for ever where a client says nothing.
    static constexpr unsigned max_rounds = 16;

    server(context& with, mechanism which, const situation& here);
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    progress begin(std::string& challenge);
    progress step(std::string_view response, std::string& challenge);

    mechanism which() const noexcept { return which_; }
    const std::string& user() const noexcept { return user_; }
    // One word: "wrong" (who they are or their password), "bad_response", "sasl".
    std::string_view problem() const noexcept { return problem_; }

    // What the library asks; `property` is a Gsasl_property. Gives a code of the library.
    int answer(Gsasl_session* session, int property);

  private:
    int give_password(Gsasl_session* session);
    int give_scram_keys(Gsasl_session* session);
    bool matches(Gsasl_session* session);
    const std::string* password(std::string_view user) const;
    progress ask_library(std::string_view response, std::string& challenge);
    progress read_token(std::string_view response, std::string& challenge);
    progress refuse(std::string_view problem);
    bool may_act_as_asked() const;

    context& with_;
    mechanism which_;
    situation here_;
    session_handle session_;  // null for tokens
    std::string user_;
    std::string_view problem_;
    unsigned rounds_ = 0;
    bool begun_ = false;
    bool refusal_explained_ = false;
    bool proving_ = false;  // the last challenge was said, all is well
};

}  // namespace postal::sasl
