// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/rows.hpp"

#include "base/error_names.hpp"

#include <algorithm>
#include <cstddef>

namespace postal::ledger {

namespace {

constexpr std::array<std::string_view, 5> outcomes{"accepted", "rejected", "deferred", "failed",
                                                   "in_doubt"};
constexpr std::array<std::string_view, condition_count> conditions{
    "verified",       "unchecked", "foreign",           "unreadable",
    "corrupt",        "truncated", "octet_changed",     "eight_bit_stripped",
    "dot_added",      "dot_lost",  "line_ends_changed", "trailing_blanks_cut",
    "header_changed", "original",  "original_corrupt"};
// Those that are errors: the first, mail of others, and what has its digest besides are none.
static_assert(std::all_of(conditions.begin(), conditions.end(), [](std::string_view name) {
    return name == "verified" || name == "foreign" || name == "original_corrupt" ||
           base::is_error_reason(name);
}));
constexpr std::array<std::string_view, 4> ways{"smtp", "lmtp", "pop3", "imap"};
constexpr std::array<std::string_view, extent_count> extents{"complete", "incoming", "partly",
                                                             "nothing"};
constexpr std::array<std::string_view, action_count> actions{"failed", "delayed", "delivered",
                                                             "relayed", "expanded"};
constexpr std::array<std::string_view, notice_count> notices{"visit", "poll", "answer",
                                                             "early", "idle", "notify"};
constexpr std::array<std::string_view, waiting_count> waitings{"idling",  "polling",  "visiting",
                                                               "in_idle", "notified", "by_notify"};
constexpr std::array<std::string_view, 3> roles{"sender", "sink", "reader"};

}  // namespace

std::string_view to_text(outcome what) noexcept {
    return outcomes[static_cast<std::size_t>(what)];
}

std::string_view to_text(condition what) noexcept {
    return conditions[static_cast<std::size_t>(what)];
}

std::string_view to_text(action what) noexcept {
    return actions[static_cast<std::size_t>(what)];
}

std::string_view to_text(way what) noexcept {
    return ways[static_cast<std::size_t>(what)];
}

std::string_view to_text(extent what) noexcept {
    return extents[static_cast<std::size_t>(what)];
}

std::string_view to_text(notice what) noexcept {
    return notices[static_cast<std::size_t>(what)];
}

std::string_view to_text(waiting what) noexcept {
    return waitings[static_cast<std::size_t>(what)];
}

std::string_view to_text(role what) noexcept {
    return roles[static_cast<std::size_t>(what)];
}

}  // namespace postal::ledger
