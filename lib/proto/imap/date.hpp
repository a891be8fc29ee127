// SPDX-License-Identifier: GPL-3.0-or-later
// The date-time of IMAP, as INTERNALDATE has it (RFC 3501 9, date-time; RFC 9051 9).
#pragma once

#include <cstdint>
#include <string_view>

namespace postal::proto {

// "17-Jul-1996 02:44:25 -0700" in microseconds since the epoch; 0 for what is none, and for what is
// not behind it.
std::uint64_t read_imap_date(std::string_view text) noexcept;

}  // namespace postal::proto
