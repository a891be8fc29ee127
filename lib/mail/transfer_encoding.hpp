// SPDX-License-Identifier: GPL-3.0-or-later
// Content-Transfer-Encodings (RFC 2045 6.7, 6.8): those that a relay may choose for a body of ours,
// read back so that it can be compared with what was sent (difference.hpp), and what is not fit to
// be sent as it is, written.
//
// Decoding is lenient, since what is left wrong is to be found by comparing: what is no code stays
// as it is in quoted-printable, and is passed over in base64, which ends at its padding. Nothing
// fails.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace postal::mail {

[[nodiscard]] std::string from_quoted_printable(std::string_view text);
// Lines end in CRLF and stay lines; a CR or LF alone is content. No line of the result is longer
// than 76 octets.
[[nodiscard]] std::string to_quoted_printable(std::string_view text);
[[nodiscard]] std::string from_base64(std::string_view text);

struct transfer_encoding {
    std::string_view name;
    std::string (*decode)(std::string_view text);
};
// None of our messages has one of these.
inline constexpr std::array transfer_encodings{
    transfer_encoding{"quoted-printable", from_quoted_printable},
    transfer_encoding{"base64", from_base64}};

}  // namespace postal::mail
