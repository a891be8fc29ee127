// SPDX-License-Identifier: GPL-3.0-or-later
// Whether octets lost their highest bit, also where that made line ends: 0x8a becomes LF and 0x8d
// CR, which servers then store or hand out as CRLF, so that what follows stands elsewhere. 0x80
// becomes NUL, which IMAP cannot carry; Dovecot hands 0x80 out in its place.
//
// A run of line ends counts by its lines when the lost bits had a part in it, else octet by octet.
// See line_causes.hpp for what an explanation is. Time in proportion to the body; no memory.
#pragma once

#include "mail/line_causes.hpp"

namespace postal::mail {

[[nodiscard]] explanation eighth_bit_stripped(const both& compared, scope where);

// The octet of the body as made that lost its bit first, given that one did.
[[nodiscard]] std::size_t first_stripped(const both& compared) noexcept;

}  // namespace postal::mail
