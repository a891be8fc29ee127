// SPDX-License-Identifier: GPL-3.0-or-later
// base64 as AUTH and AUTHENTICATE of every protocol write it (RFC 4648 4): with padding, without
// line ends.
//
// Reading is strict, as RFC 4954 4 asks for: nothing but the alphabet and right padding, whose
// spare bits are zero. Nothing here fails but from_base64(), which then gives nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace postal::proto {

// RFC 4954 4: what a line of AUTH may have, with its CRLF.
inline constexpr std::size_t max_auth_line = 12288;

std::string to_base64(std::string_view octets);

std::optional<std::string> from_base64(std::string_view text);

}  // namespace postal::proto
