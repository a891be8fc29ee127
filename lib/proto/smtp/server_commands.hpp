// SPDX-License-Identifier: GPL-3.0-or-later
// server_commands: one row a command of smtp_server.
//
// Private to server.cpp and server_commands.cpp. A row says in which states and dialect a
// command is allowed, whether it takes an argument, at which stage its reply stands, whether
// the owner is asked, and what runs when all of that is right.
#pragma once

#include "proto/smtp/server.hpp"

namespace postal::proto {

struct smtp_server::command {
    enum argument_rule : std::uint8_t { none, optional, required };
    enum dialects : std::uint8_t { in_both, in_smtp, in_lmtp };
    using handler = server_step (smtp_server::*)(std::string_view argument, std::string& out);

    std::string_view verb;
    unsigned states;  // bits of smtp_server::state
    argument_rule argument;
    dialects only_in;
    server_stage stage;
    bool is_judged;  // the owner may answer in the handler's place
    handler run;
    bool brings_no_mail = false;  // and may not be said for ever

    // What takes mail, or tells about users (RFC 4954 6); the rest of a transaction needs MAIL.
    bool needs_auth() const noexcept {
        return stage == server_stage::mail || run == &smtp_server::answer<replies::cannot_verify> ||
               run == &smtp_server::answer<replies::no_such_list>;
    }

    static const command table[];
};

}  // namespace postal::proto
