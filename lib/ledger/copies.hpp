// SPDX-License-Identifier: GPL-3.0-or-later
// Which sightings are of one copy of a message in a mailbox: what reconciler.hpp says of uids.
#pragma once

#include <cstdint>
#include <tuple>

#include "ledger/reconciler.hpp"

namespace postal::ledger {

inline bool is_mailbox(way through) noexcept {
    return through == way::pop3 || through == way::imap;
}

// Sightings of which the uids can be compared: those of a mailbox without uids within a run.
inline auto group_of(const seen_entry& one) {
    const bool within_run = is_mailbox(one.through) && one.uid == 0;
    return std::make_tuple(one.through, one.server, one.uid_validity,
                           within_run ? one.observer : 0);
}

inline std::int64_t copy_of(const seen_entry& one) noexcept {
    return one.uid != 0 ? one.uid : one.number;
}

inline bool same_copy(const seen_entry& a, const seen_entry& b) noexcept {
    return (a.uid != 0) == (b.uid != 0) && copy_of(a) == copy_of(b);
}

// In the order of both within a mailbox. Without a uid there is no such place.
inline auto place_of_copy(const seen_entry& one) {
    return std::tuple_cat(group_of(one), std::make_tuple(one.uid != 0, one.uid));
}

inline auto place_of_copy(const removed_entry& one) {
    return std::make_tuple(one.through, one.server, one.uid_validity, std::int64_t{0}, true,
                           one.uid);
}

}  // namespace postal::ledger
