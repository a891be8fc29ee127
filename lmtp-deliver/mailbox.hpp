// SPDX-License-Identifier: GPL-3.0-or-later
// mailbox: an address as agents get it, whole and in parts.
//
// Made from a path that proto::parse_path accepted. A quoted local part is unquoted and its quoted
// pairs resolved (RFC 5321 4.1.2); the null path gives four empty parts. `user` is the local part
// up to the first delimiter and `detail` what follows it (RFC 5233); a delimiter at the very
// beginning does not split, so a user is empty only where the local part is: "" in quotes. Agents
// may take an empty user for the one that runs them (maildrop -d does): refuse such a recipient.
//
// Never fails. Limits: parts may hold blanks, quotes, slashes and a leading dash, whatever an
// address may; never control characters, which the address parser refuses.
#pragma once

#include "proto/address.hpp"

#include <string>
#include <string_view>

namespace postal::lmtp_deliver {

struct mailbox {
    std::string address{};  // unquoted local part, "@" and domain; no "@" without a domain
    std::string user{};
    std::string domain{};
    std::string detail{};
    std::string written{};  // as the envelope had it, quotes included: for headers
    bool operator==(const mailbox&) const = default;
};

// delimiters: each octet of it is one; empty for none.
[[nodiscard]] mailbox make_mailbox(const proto::path& path, std::string_view delimiters);

// True for an unquoted local part that, used as a file's name, can name one elsewhere: it holds "/"
// or "..".
[[nodiscard]] bool leaves_folder(std::string_view local_part) noexcept;

}  // namespace postal::lmtp_deliver
