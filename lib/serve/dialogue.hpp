// SPDX-License-Identifier: GPL-3.0-or-later
// What a server answers at each stage: what the client has said goes through the state machine, the
// program is asked what the machine asks, and the replies stand in the output.
//
// Flow: process() runs the commands that have come, and says what is to be done then. It stops
// early only to hold a reply back (stage delays), to wait for answers that a message's end did not
// get at once, to send a full buffer, to let others run after many commands, to begin TLS, or to
// close. What the machine asks its owner the program is asked: judge() may refuse, delay, read
// slowly or cut the connection at each stage. A reply that may have to wait is written aside, and
// comes to the output with let_go(), when its time has come.
//
// No I/O, no clock (client_parts has the time), and nothing suspends. Fails only for memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proto/smtp/server.hpp"
#include "proto/smtp/stage_effect.hpp"
#include "serve/client_parts.hpp"
#include "serve/held_reply.hpp"

namespace postal::serve {

std::string_view to_text(proto::cut how);

class dialogue {
  public:
    // Outlives it.
    explicit dialogue(client_parts& of) noexcept
        : of_(of), reply_(of.context.rules.may_hold_back()) {}

    enum class next : std::uint8_t { read, flush, others, hold, answers, secure, cut, close, stop };
    next process();
    // Others have had their turn.
    void begin_turn() noexcept { commands_left_ = commands_a_turn; }

    // What the machine says comes here: into the output, or where it may have to wait beside it.
    std::string& output() noexcept { return reply_.room(of_.output.text()); }
    // For the stage that is being judged; held_reply::add().
    void add_effect(const proto::stage_effect& one, bool answered) { reply_.add(one, answered); }
    // After `hold`: for how long.
    std::chrono::nanoseconds wait() const noexcept { return reply_.wait(); }
    // Its time has come.
    void let_go() { reply_.let_go(of_.output.text()); }
    void held_back();
    // How the connection ends behind what was said; no: it goes on.
    proto::cut ending() const noexcept { return reply_.ending(); }

    // Nothing is under way, and no message waits for its answer.
    bool at_rest() const;

  private:
    // What comes before the client's first word.
    enum class opening : std::uint8_t { connect, banner, done };
    static constexpr unsigned commands_a_turn = 256;

    next open();
    next greet(const proto::server_step& step);
    next consume();
    std::optional<proto::server_reply> asked(const proto::server_step& about);
    next act_on(const proto::server_step& step);
    next answer_auth(const proto::server_step& step);
    void act_on_reply(const proto::server_step& step);
    next begin_tls();
    next in_time(proto::server_stage stage, next what);

    client_parts& of_;
    held_reply reply_;
    next then_ = next::read;  // once its time has come
    opening opening_ = opening::connect;
    unsigned commands_left_ = 0;  // before others have their turn
};

}  // namespace postal::serve
