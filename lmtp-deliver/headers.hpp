// SPDX-License-Identifier: GPL-3.0-or-later
// The trace headers that --add-header asks for, as they stand in front of a message.
//
// Return-Path (RFC 5321 4.4, only the last MTA adds it), Delivered-To (the recipient as the
// envelope had it; against loops), Received (RFC 5321 4.4). Each a whole line with CRLF (or LF:
// --line-ends), in that order. Addresses stand there as the envelope had
// them; a client that does not call itself by a domain or an address literal is "unknown".
#pragma once

#include <string>

#include "lmtp-deliver/plan.hpp"
#include "lmtp-deliver/transaction.hpp"

namespace postal::lmtp_deliver {

// Without a recipient there is no Delivered-To, and Received does not say for whom.
[[nodiscard]] std::string headers(const plan& run, const transaction& of, const mailbox* recipient);

}  // namespace postal::lmtp_deliver
