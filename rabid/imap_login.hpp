// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in on an IMAP connection: LOGIN or AUTHENTICATE (RFC 3501 6.2, RFC 9051 6.2), and
// COMPRESS behind it (RFC 4978). Initial responses are sent where the server offers SASL-IR (RFC
// 4959).
#pragma once

#include "rabid/imap_dialogue.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

// To be called once, behind the greeting and TLS. False when the server does not let us in, which
// is counted.
asio::awaitable<bool> log_in(imap_dialogue& dialogue, const visit_context& who);

}  // namespace postal::rabid
