// SPDX-License-Identifier: GPL-3.0-or-later
// Header fields that a person asks for, beside those that every message of ours has: --header and
// --subject.
//
// What comes out may stand in a header section as it is: one line of printable ASCII, blanks and
// tabs, at most 998 octets, of a name that nothing else of ours writes. The failure says what is
// wrong and what would be right. RFC 5322 2.1.1 (length), 2.2 and 3.6.8 (names).
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

// What all of them may have together: readers take 64 KiB of headers at most.
inline constexpr std::size_t most_given_octets = std::size_t{32} << 10U;

// "List-Id:x" and "List-Id: x": the line "List-Id: x", without CRLF. No name that begins with a
// dot, which would have to be stuffed.
[[nodiscard]] base::expected<std::string> parse_header_field(std::string_view given);

// The value alone.
[[nodiscard]] base::expected<std::string> parse_subject(std::string_view given);

// Whether one of these lines says what a body is: MIME-Version or Content-...
[[nodiscard]] bool describes_body(const std::vector<std::string>& lines) noexcept;

}  // namespace postal::mail
