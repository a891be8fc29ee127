// SPDX-License-Identifier: GPL-3.0-or-later
// ESMTP parameters behind MAIL and RCPT: their syntax (RFC 5321 4.1.2, esmtp-param), xtext (RFC
// 3461 4), and the values of the extensions about delivery: DSN (RFC 3461), DELIVERBY (RFC 2852),
// MT-PRIORITY (RFC 6710).
//
// Pure functions; nothing fails but by saying false. RFC 6531's UTF-8 in values is not accepted.
#pragma once

#include <string>
#include <string_view>

namespace postal::proto {

// "KEY" or "KEY=VALUE": the keyword, or empty when it is no parameter.
[[nodiscard]] std::string_view esmtp_keyword(std::string_view parameter) noexcept;

[[nodiscard]] bool is_xtext(std::string_view text) noexcept;
void append_xtext(std::string& out, std::string_view text);

// AUTH= (RFC 4954 5): "<>", or a mailbox in xtext, as in "user+2Btag@example.com".
[[nodiscard]] bool is_auth_value(std::string_view value) noexcept;
// NOTIFY= (RFC 3461 4.1): NEVER, or SUCCESS, FAILURE, DELAY with commas between.
[[nodiscard]] bool is_notify_value(std::string_view value) noexcept;
// ORCPT= (RFC 3461 4.2): "rfc822;user+2Btag@example.com", at most 500 characters.
[[nodiscard]] bool is_orcpt_value(std::string_view value) noexcept;
// RET= (RFC 3461 4.3): FULL or HDRS.
[[nodiscard]] bool is_ret_value(std::string_view value) noexcept;
// ENVID= (RFC 3461 4.4): xtext of at most 100 characters.
[[nodiscard]] bool is_envid_value(std::string_view value) noexcept;
// BY= (RFC 2852 4): "120;R"; seconds of up to nine digits, more than 0 with R; N, R, and T behind
// it.
[[nodiscard]] bool is_by_value(std::string_view value) noexcept;
// MT-PRIORITY= (RFC 6710 4.1): -9 to 9.
[[nodiscard]] bool is_mt_priority_value(std::string_view value) noexcept;

inline constexpr std::size_t most_auth_octets = 500;
inline constexpr std::size_t most_envid_octets = 100;
inline constexpr std::size_t most_orcpt_octets = 500;

}  // namespace postal::proto
