// SPDX-License-Identifier: GPL-3.0-or-later
// Which addresses of an envelope are refused, and why: those that could name another file or
// another user, or be taken for an option, by the agent that gets them. Nothing is looked up.
#pragma once

#include "lmtp-deliver/plan.hpp"
#include "lmtp-deliver/transaction.hpp"
#include "proto/smtp/server.hpp"

namespace postal::lmtp_deliver {

// The reply that says what is wrong; code 0 for nothing.
proto::server_reply refusal_of_sender(const plan& run, const transaction& of);
proto::server_reply refusal_of_recipient(const plan& run, const transaction& of,
                                         const mailbox& recipient);

}  // namespace postal::lmtp_deliver
