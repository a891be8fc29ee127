// SPDX-License-Identifier: GPL-3.0-or-later
// The list of users: who sends, who receives, who logs in.
//
// One user a line, fields separated by blanks or tabs: address, password, behaviour. A password "-"
// or none is empty. The behaviour column is letters of d, r, b, g. Blank lines and lines that start
// with # are skipped; lines end in LF or CRLF.
//
// Loading fails with one line "FILE:LINE: reason" when the file is missing, unreadable, a
// directory, has no user, or has a malformed line. Nothing that could break out of an SMTP command
// or a header gets through: control characters (NUL, CR, LF, DEL), angle brackets, invalid UTF-8, a
// second unquoted "@", an empty local part or domain, more octets than a command line holds (RFC
// 5321 4.5.3.1.4). Nor does what others write between columns, an unquoted comma, semicolon or
// colon, nor "Name <address>": a password would go out as a part of an address. A bare name without
// a domain is allowed, as is UTF-8 (RFC 6531; such an address needs SMTPUTF8).
//
// The path "-" is standard input.
// Limits: read whole into memory.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::mail {

struct user {
    std::string address;
    std::string password;
    std::string behaviour;
    std::size_t line = 0;
};

inline constexpr std::string_view standard_input = "-";
// What failures call the list.
[[nodiscard]] inline std::string list_name(const std::string& path) {
    return path == standard_input ? "standard input" : path;
}

[[nodiscard]] base::expected<std::vector<user>> load_users(const std::string& path);

// The same from text; name stands for the file in failures.
[[nodiscard]] base::expected<std::vector<user>> parse_users(std::string_view text,
                                                            std::string_view name);

// The first user whose mailbox is that of an earlier one, behind that one; null when each is there
// once. ASCII letters of either case are the same there, as in the ledger.
[[nodiscard]] std::pair<const user*, const user*> same_mailbox(const std::vector<user>& users);

// One address by the rules above; the value is whether it is pure ASCII.
[[nodiscard]] base::expected<bool> check_address(std::string_view address);

}  // namespace postal::mail
