// SPDX-License-Identifier: GPL-3.0-or-later
// One login with SASL on a client's connection (--auth), whatever the protocol: chooses the
// mechanism, holds the conversation, and counts how it ended. What goes over the wire is its
// owner's business.
//
// Flow:
//   login mine(shared, connection, stage::auth, {user, password, "smtp"});
//   if (!mine.begin(offered)) ...        no mechanism fits: counted
//   say mine.talk().initial(room), then mine.talk().answer() to each challenge
//   mine.agreed(), or mine.refused(reply)
//
// A login that fails is one error, whose sample begins with the mechanism's name; one that succeeds
// is counted by its mechanism.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/channel.hpp"
#include "client/stage.hpp"
#include "client/worker_context.hpp"
#include "sasl/conversation.hpp"

namespace postal::client {

class login {
  public:
    struct account {
        std::string_view user;
        std::string_view password;
        std::string_view service;  // as in GSS-API names (RFC 4422 3.1)
    };
    // All must outlive it.
    login(worker_context& shared, channel& connection, stage where, const account& who);

    bool begin(sasl::mechanism_set offered, bool tls_offered = false);
    sasl::conversation& talk() noexcept { return *talk_; }

    // The server has agreed: whether that is to be believed.
    bool agreed();
    // The server has not, and said this, or we gave up.
    void refused(std::string_view reply);
    // Whether it was us who gave up, which is then counted.
    bool gave_up();
    // What is told of the server's words.
    std::string sample(std::string_view reply) const;

  private:
    worker_context& shared_;
    channel& connection_;
    stage where_;
    account who_;
    std::string binding_;
    std::optional<sasl::conversation> talk_;
};

}  // namespace postal::client
