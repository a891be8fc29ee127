// SPDX-License-Identifier: GPL-3.0-or-later
// server_stage: the moments at which an SMTP or LMTP server speaks, or may be told what to do.
//
// The state machine tells its owner the stage of every reply before it is sent, so that the owner
// can hold it back. Names are those of errors, and of `--delay STAGE=DURATION`. Never fails.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error_names.hpp"

namespace postal::proto {

// Those before `other` in the order in which draws of rules count them.
enum class server_stage : std::uint8_t {
    connect,  // between the connection and the session's first work
    banner,
    ehlo,  // EHLO, HELO, LHLO
    tls,   // STARTTLS
    auth,  // AUTH, and each reply of its exchange
    mail,
    rcpt,
    data,   // the 354, or the reply to a chunk that is not the last
    chunk,  // that the owner is asked about one; its reply is one of `data`
    end,    // the reply (LMTP: replies) to a whole message
    rset,
    quit,
    other  // NOOP, VRFY, EXPN, HELP and what is not understood
};

inline constexpr std::size_t server_stage_count = 13;

inline constexpr std::array<std::string_view, server_stage_count> server_stage_names{
    "connect", "banner", "ehlo", "tls",  "auth", "mail", "rcpt",
    "data",    "data",   "end",  "rset", "quit", "other"};

static_assert(std::all_of(server_stage_names.begin(), server_stage_names.end(),
                          base::is_error_stage));

constexpr std::string_view to_text(server_stage stage) noexcept {
    return server_stage_names[static_cast<std::size_t>(stage)];
}

constexpr std::optional<server_stage> server_stage_of(std::string_view name) noexcept {
    for (std::size_t i = 0; i < server_stage_count; ++i) {
        if (server_stage_names[i] == name) return static_cast<server_stage>(i);
    }
    return std::nullopt;
}

}  // namespace postal::proto
