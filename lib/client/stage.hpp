// SPDX-License-Identifier: GPL-3.0-or-later
// The points of a client's dialogue at which an error is counted: the names that records, logs and
// thresholds know.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_names.hpp"

namespace postal::client {

enum class stage : std::uint8_t {
    connect,
    tls,
    banner,
    ehlo,
    xclient,
    auth,
    mail,
    rcpt,
    data,
    end,  // the reply behind the message
    rset,
    login,
    list,
    retrieve,
    remove,
    command,  // whatever else was asked over POP3 or IMAP
    idle,
    quit,
    check  // what a message turned out to be
};

inline constexpr std::array<std::string_view, 19> stage_names{
    "connect", "tls",   "banner", "ehlo",     "xclient", "auth",    "mail", "rcpt", "data", "end",
    "rset",    "login", "list",   "retrieve", "delete",  "command", "idle", "quit", "check"};
static_assert(std::all_of(stage_names.begin(), stage_names.end(), base::is_error_stage));

constexpr std::string_view to_text(stage where) noexcept {
    return stage_names[static_cast<std::size_t>(where)];
}

// Who knows which of them: those behind `quit` and before `ehlo` both.
enum class stages_of : std::uint8_t { senders, readers };
[[nodiscard]] constexpr bool has_stage(stages_of who, stage where) noexcept {
    if (where >= stage::ehlo && where <= stage::rset) return who == stages_of::senders;
    if (where >= stage::login && where <= stage::command) return who == stages_of::readers;
    return where != stage::check;
}

// A session waits for its turn, or for the peer at one of the stages: stats::run_description's.
// Those that are none of the program's have no name.
[[nodiscard]] inline std::vector<std::string> session_states(stages_of who) {
    std::vector<std::string> made{"pausing"};
    for (std::size_t i = 0; i < stage_names.size(); ++i)
        made.emplace_back(has_stage(who, static_cast<stage>(i)) ? stage_names[i] : "");
    return made;
}
constexpr std::size_t pausing_state = 0;
constexpr std::size_t session_state_at(stage where) noexcept {
    return 1 + static_cast<std::size_t>(where);
}

}  // namespace postal::client
