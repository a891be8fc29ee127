// SPDX-License-Identifier: GPL-3.0-or-later
// Rules and envelopes as the tests of the engine and of explain() make them.
#pragma once

#include "behaviour/engine.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rules_of_tests {

namespace b = postal::behaviour;

inline std::size_t index_of(b::stage at) {
    return static_cast<std::size_t>(at);
}

// A rule of that line that answers 450 at a stage.
inline b::rule refusal(std::uint32_t line, b::stage at = b::stage::rcpt) {
    b::rule one;
    one.line = line;
    b::action what;
    what.line = line + 1;
    what.reply = b::reply_text{450, "4.2.1", "Later"};
    one.at[index_of(at)] = what;
    return one;
}

inline b::rule refusal(std::uint32_t line, b::conditions when, b::stage at = b::stage::rcpt) {
    b::rule one = refusal(line, at);
    one.when = std::move(when);
    return one;
}

inline b::behaviour file(std::vector<b::rule> rules) {
    return {"behaviour.toml", std::move(rules)};
}

inline postal::net::ip_address address(std::string_view text) {
    const auto parsed = postal::net::parse_ip(text);
    REQUIRE(parsed);
    return *parsed;
}

inline postal::net::address_range network(std::string_view text) {
    const auto parsed = postal::net::parse_address_range(text);
    REQUIRE(parsed.has_value());
    return *parsed;
}

// Of what may well have no domain; "<>" is the null path. Keeps views of `mailbox`.
inline postal::proto::path path(std::string_view mailbox) {
    if (mailbox == "<>") {
        postal::proto::path null;
        null.null = true;
        return null;
    }
    const auto parsed =
        postal::proto::parse_mailbox(mailbox, postal::proto::bare_local_part::allowed);
    REQUIRE(parsed.ok());
    return parsed.value;
}

// Owns what a situation points at.
class envelope {
  public:
    envelope(std::string sender, std::string recipient, std::string_view client = "192.0.2.1")
        : sender_text_(std::move(sender)),
          recipient_text_(std::move(recipient)),
          sender_(path(sender_text_)),
          recipient_(path(recipient_text_)),
          client_(address(client)) {
        here.listener = "127.0.0.1:2525";
        here.client = &client_;
        here.helo = "mx.example.org";
        here.sender = &sender_;
        here.recipient = &recipient_;
        here.message = 1;
        here.recipient_number = 1;
    }
    envelope(const envelope&) = delete;
    envelope& operator=(const envelope&) = delete;

    b::situation here;

  private:
    std::string sender_text_;
    std::string recipient_text_;
    postal::proto::path sender_;
    postal::proto::path recipient_;
    postal::net::ip_address client_;
};

// The line of the rule that acts; 0 when none does.
inline std::uint32_t line_of(b::engine& engine, const b::situation& here,
                             b::stage at = b::stage::rcpt) {
    const b::decision made = engine.decide(at, here, engine.begin(here));
    return made.by == nullptr ? 0 : made.by->line;
}

}  // namespace rules_of_tests
