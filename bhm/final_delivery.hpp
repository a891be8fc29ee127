// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of one transaction's mail beyond being counted: a copy in the store, and for
// recipients with b a bounce to the sender.
//
// Flow, in the session: made at MAIL; add() for each recipient that is accepted; begin(), for a
// copy, where content begins, take() the content; accept() when the message is. Destroyed without
// accept(), it leaves nothing behind.
//
// A copy has Return-Path (RFC 5321 4.4), a Delivered-To for each recipient that RCPT took, and
// Received in front. One that cannot be kept is no reason to refuse the message: it is counted
// (not_stored), and where writing failed as an error of the stage "end", reason "not_stored".
//
// A message for several recipients with b gives one bounce. None is made for the null reverse-path
// (RFC 5321 6.1). Mail that says Auto-Submitted is bounced like any other: RFC 5321 6.1 knows no
// other exception, RFC 3834 2 is about responders, and what must not be bounced to has the null
// reverse-path. Notifications that RCPT asked for or forbade (NOTIFY, RFC 3461) are not heeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bhm/mail_store.hpp"
#include "bhm/recipients.hpp"
#include "bhm/worker_context.hpp"
#include "mail/trace_header.hpp"
#include "proto/address.hpp"

namespace postal::bhm {

class final_delivery {
  public:
    // The most recipients with b of a message, since its bounce names them all.
    static constexpr std::size_t most_bounced = 1000;

    // Whom a message comes from, for Received.
    struct origin {
        std::string client{};  // an address without a port, or "unix"
        std::string_view helo{};
        mail::transmission how{};
    };

    // `session` and `message` number the mail of a run, from 1 on.
    final_delivery(worker_context& context, const proto::path& reverse_path, std::uint64_t session,
                   std::uint64_t message);

    bool may_bounce_another() const noexcept { return bounced_.size() < most_bounced; }
    void add(const proto::path& forward_path, fate what);
    // Over LMTP a recipient, the first one is 0, may still be refused, or hear nothing: whoever
    // sent the message keeps it then, and is told of no bounce.
    void withdraw(std::size_t recipient);
    // Whether the message is to be kept; then begin() must be called.
    bool keeps_copy() const noexcept { return keeps_copy_; }
    void begin(const origin& from);
    void take(std::string_view content);
    void accept();
    // Keeps the copy at once, for whom 250 means that it is kept; false when it is not.
    bool keep_now();

  private:
    std::string headers(const origin& from) const;
    bool accept_copy();
    void bounce_it();

    worker_context& context_;
    std::uint64_t session_;
    std::uint64_t message_;
    std::string reverse_path_;
    std::vector<std::string> recipients_{};  // with a store only
    std::vector<std::string> bounced_{};
    std::vector<std::size_t> bounced_places_{};  // of the same, among all recipients
    std::size_t added_ = 0;
    std::string original_{};  // its beginning, where somebody is bounced
    bool keeps_copy_ = false;
    std::unique_ptr<stored_message> copy_{};
};

}  // namespace postal::bhm
