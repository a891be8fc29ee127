// SPDX-License-Identifier: GPL-3.0-or-later
// address: mailboxes and paths as they stand in MAIL, RCPT, VRFY and user lists.
//
// Contract: views in, views out, no allocation but for what is unquoted. A refusal carries one
// static sentence that can go into a 501 reply. RFC 5321 4.1.2 (grammar), 4.1.3 (address literals),
// 4.5.3.1 (64, 255 and 256 octets), RFC 6531 3.3 (UTF-8 in both parts). A source route is checked
// and then ignored (RFC 5321 appendix C). Lenient in one place: an underscore may stand in a
// domain, because machines are called so. Fails by `refusal`; never throws. Control characters and
// NUL are never accepted, quoted or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace postal::proto {

inline constexpr std::size_t max_local_part = 64;
inline constexpr std::size_t max_domain = 255;
inline constexpr std::size_t max_path = 256;  // with the brackets

struct path {
    std::string_view mailbox;     // without brackets and source route; empty for the null path
    std::string_view local_part;  // as written, quotes included
    std::string_view domain;      // empty for the null path and for a bare local part
    std::size_t length = 0;       // octets taken from the input, brackets included
    bool quoted = false;          // the local part is a quoted string
    bool non_ascii = false;       // needs SMTPUTF8
    bool null = false;            // "<>"
};

struct path_result {
    path value{};
    std::string_view refusal{};  // why not, empty when it is a path
    bool ok() const noexcept { return refusal.empty(); }
};

enum class path_role : std::uint8_t { reverse, forward };  // only a reverse path may be null
enum class bare_local_part : std::uint8_t {
    postmaster_only,
    allowed
};  // "<user>" without a domain

struct path_rules {
    path_role role = path_role::forward;
    bare_local_part bare = bare_local_part::postmaster_only;
};

// Reads a path from the start of `input`, which goes on behind it (with parameters, say).
path_result parse_path(std::string_view input, path_rules rules) noexcept;

// The whole of `input` is one mailbox without brackets.
path_result parse_mailbox(std::string_view input, bare_local_part bare) noexcept;

// Whether it may stand behind an "@": a domain or an address literal.
bool is_host_name(std::string_view name);

// What a parsed path means: its local part without quotes and the backslashes of quoted pairs (RFC
// 5321 4.1.2), and the same with "@" and the domain, if there is one.
std::string unquoted_local_part(const path& of);
std::string unquoted_mailbox(const path& of);

}  // namespace postal::proto
