// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/command_kinds.hpp"

namespace postal::rabid {

using proto::imap_condition;
using proto::imap_verb;

static_assert(static_cast<std::size_t>(imap_verb::unselect) < stats::command_counts::most_kinds);

imap_verb kind_of(imap_verb verb) noexcept {
    switch (verb) {
        case imap_verb::uid_copy:
            return imap_verb::copy;
        case imap_verb::uid_expunge:
            return imap_verb::expunge;
        case imap_verb::uid_fetch:
            return imap_verb::fetch;
        case imap_verb::uid_move:
            return imap_verb::move;
        case imap_verb::uid_search:
            return imap_verb::search;
        case imap_verb::uid_sort:
            return imap_verb::sort;
        case imap_verb::uid_store:
            return imap_verb::store;
        case imap_verb::uid_thread:
            return imap_verb::thread;
        default:
            return verb;
    }
}

// Tagged responses have no other conditions (RFC 9051 7.1).
stats::command_end end_of(imap_condition condition) noexcept {
    if (condition == imap_condition::ok) return stats::command_end::ok;
    return condition == imap_condition::no ? stats::command_end::no : stats::command_end::bad;
}

std::vector<std::string> command_kinds() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(imap_verb::unselect); ++i) {
        const std::string_view name = proto::imap_verb_name(static_cast<imap_verb>(i));
        names.emplace_back(name.substr(0, name.find(' ')));  // COMPRESS DEFLATE
    }
    return names;
}

}  // namespace postal::rabid
