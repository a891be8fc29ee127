// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a client's messages, and how its session ends, as it is counted.
//
// Every refusal is an error by stage and code, but for what only follows from one before (RFC 2920
// 3.1), and a strike of the limit that it names. So is every end without QUIT, and every message
// that our own stop ended. Of messages the books are in transaction_books.hpp. Nothing here fails
// but for memory.
#pragma once

#include "net/connection.hpp"
#include "proto/smtp/server.hpp"
#include "serve/mail_program.hpp"
#include "serve/transaction_books.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

class outcomes {
  public:
    // All outlive it.
    outcomes(worker_context& context, const proto::smtp_server& machine, mail_program& program)
        : own_(context.own),
          machine_(machine),
          program_(program),
          books_(context.own, context.rules, machine) {}

    transaction_books& books() noexcept { return books_; }

    // After the machine has taken it in; `more_came`: the client had said more already.
    void command_answered(proto::server_stage stage, const proto::server_reply& reply,
                          bool more_came);
    void message_refused(const proto::server_step& step);
    // The connection ends with this reply, and with it what is under way.
    void sent_away(const proto::server_step& step, bool more_came);
    void refused(proto::server_stage stage, const proto::server_reply& reply);
    // Whatever was begun and has no outcome yet.
    void message_dropped();

    // Our own stop ends what is under way at once.
    void stopped_now() noexcept { stopped_now_ = true; }
    bool is_stopped_now() const noexcept { return stopped_now_; }
    bool has_quit() const noexcept { return quit_; }
    // The session has ended for that reason, and without QUIT.
    void lost(net::fault why, const net::tls_problem& problem);

  private:
    load::worker& own_;
    const proto::smtp_server& machine_;
    mail_program& program_;
    transaction_books books_;
    bool quit_ = false;
    bool stopped_now_ = false;
};

}  // namespace postal::serve
