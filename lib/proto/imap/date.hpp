// SPDX-License-Identifier: GPL-3.0-or-later
// The date-time of IMAP, as INTERNALDATE has it (RFC 3501 9, date-time; RFC 9051 9).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postal::proto {

// "17-Jul-1996 02:44:25 -0700" in microseconds since the epoch; 0 for what is none, and for what is
// not behind it.
std::uint64_t read_imap_date(std::string_view text) noexcept;

// "17-Jul-1996 09:44:25 +0000" of seconds since the epoch, in years from 1 to 9999.
std::string imap_date(std::int64_t seconds);

}  // namespace postal::proto
