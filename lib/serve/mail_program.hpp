// SPDX-License-Identifier: GPL-3.0-or-later
// What a program does with the mail of one client, as its session asks for it.
//
// None of these may suspend. What they answer with, and what they may use, is the session's
// (session.hpp). Of all of them only memory may fail.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proto/smtp/server.hpp"

namespace postal::serve {

// One more challenge, in octets, or the reply that ends the exchange.
struct auth_answer {
    bool asks = false;
    std::string challenge{};
    proto::server_reply reply = proto::replies::auth_wrong;
};

class mail_program {
  public:
    mail_program() = default;
    mail_program(const mail_program&) = delete;
    mail_program& operator=(const mail_program&) = delete;

    virtual void greeted(std::string_view) {}  // the name in EHLO or LHLO
    // The connection is what it will be for now, and nothing has been said on it: before the
    // banner, and after STARTTLS. The time for machine().announce_auth().
    virtual void connection_ready() {}
    // What the client says in AUTH, by auth_begin and auth_line.
    virtual auth_answer judge_auth(const proto::server_step&) { return {}; }
    // What the machine asks, as proto::smtp_server::answer() says; where all stages are judged at
    // connect, too, and what is answered there is not said.
    virtual std::optional<proto::server_reply> judge(const proto::server_step& asked) = 0;
    virtual void begin_message() {}
    virtual void take_content(std::string_view) {}
    // The message is whole and well-formed: append the answers here with answer_delivery(), or see
    // to it that answers_ready() becomes true.
    virtual void end_message() = 0;
    // Answers were appended and no stage delay holds them back any more: the time to count them.
    virtual void answers_due_now() {}
    // For answers that take time. The session asks after each wake(); give_answers() appends those
    // that are there.
    virtual bool answers_ready() const { return true; }
    virtual void give_answers() {}
    // The client has left while it is owed answers: what has not been begun for it need not be.
    virtual void client_left() {}
    // Something goes on that the session must outlive, although its client may be gone.
    virtual bool work_left() const { return false; }
    // The message is whole and its client has not been told what becomes of it: a session that is
    // lost now leaves it in doubt.
    virtual bool outcome_pending() const { return false; }
    // The message has come to nothing: refused whole, or lost with the client.
    virtual void drop_message() {}
    // The session is over: whether answers that were given when the client may have gone were
    // heard.
    virtual void doubtful_answers(bool) {}
    virtual void stop_now() {}
    virtual void stop_gently() {}

  protected:
    ~mail_program() = default;
};

}  // namespace postal::serve
