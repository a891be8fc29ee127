// SPDX-License-Identifier: GPL-3.0-or-later
// The books of one session: messages (over LMTP recipients) begun, how each ends, and how long it
// took.
//
// A message is started with MAIL; over LMTP the first recipient is, and each other with its RCPT.
// Those that are not accepted end as rejected or deferred, as their client counts them (by the
// reply to MAIL, to the content, to DATA or BDAT, or to RCPT: over SMTP when no recipient was
// taken, deferred if one of them was), failed (lost or given up before their end), or in doubt
// (lost while nobody had been told). Nothing here fails.
#pragma once

#include <cstdint>

#include "load/watched.hpp"
#include "load/worker.hpp"
#include "proto/smtp/server.hpp"
#include "serve/worker_context.hpp"

namespace postal::serve {

class transaction_books {
  public:
    // All outlive it.
    transaction_books(load::worker& own, const session_rules& rules,
                      const proto::smtp_server& machine) noexcept
        : own_(own), rules_(rules), machine_(machine) {}

    // Replies that the machine has taken in; `more_came`: it stands in the input already, so that
    // the client did not wait.
    void sender_answered(const proto::server_reply& reply, bool more_came);
    void recipient_answered(const proto::server_reply& reply, bool more_came);
    // Gives the code that has refused the message, if it is over.
    unsigned content_answered(const proto::server_reply& reply);
    // What a client has pipelined behind a refusal, and cannot be taken, is the same event.
    bool follows_refusal(proto::server_stage stage) const;
    // Unless something was refused already.
    void refused_with(unsigned code) noexcept {
        if (refusal_ == 0) refusal_ = code;
    }

    void sender_comes(load::steady_time now) noexcept { mail_at_ = now; }
    void message_begins(load::steady_time now) noexcept {
        data_at_ = now;
        refusal_ = 0;
    }
    void message_ends(load::steady_time now);
    void message_refused(unsigned code) { units_refused(begun_, code); }
    // Whatever was begun and has no outcome yet; gives how many were.
    std::uint32_t dropped(bool in_doubt);

    // Without an outcome so far.
    std::uint32_t begun() const noexcept { return begun_; }
    void ended(std::uint32_t units) noexcept { begun_ -= units; }
    bool had_transaction() const noexcept { return had_transaction_; }
    load::steady_time mail_at() const noexcept { return mail_at_; }

  private:
    bool lmtp() const noexcept { return rules_.server.speaks == proto::dialect::lmtp; }
    void unit_begins();
    void units_refused(std::uint32_t units, unsigned code);

    load::worker& own_;
    const session_rules& rules_;
    const proto::smtp_server& machine_;
    std::uint32_t begun_ = 0;
    // The code that refused the transaction's sender, content or, so far, all its recipients.
    unsigned refusal_ = 0;
    bool had_transaction_ = false;
    bool recipient_named_ = false;
    bool pipelined_ = false;  // more stood in the input when MAIL, or a RCPT, was answered
    load::steady_time mail_at_{};
    load::steady_time data_at_{};
};

}  // namespace postal::serve
