// SPDX-License-Identifier: GPL-3.0-or-later
// What a ledger of each version of the schema consists of, as SQL; see schema.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace postal::ledger {

// All that a ledger of that version defines, from oldest_schema on.
[[nodiscard]] std::string tables_of(std::int64_t version);

// What one of an older version lacks, as empty tables of the connection.
[[nodiscard]] std::string tables_beside(std::int64_t version);

// The newest, with the words for its numbers.
[[nodiscard]] std::string whole_schema();

// Puts a row into visits: ?1 is its number or NULL, the others follow in the table's order. Of what
// a run has looked at in a mailbox the latest of each extent stays, whichever comes first; each
// watch stays.
inline constexpr std::string_view put_visit =
    "INSERT INTO visits VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) "
    "ON CONFLICT(observer, mailbox, way, server, extent) WHERE extent <> 1 DO UPDATE SET "
    "began_us = excluded.began_us, ended_us = excluded.ended_us, "
    "messages = excluded.messages, looked_at = excluded.looked_at, reason = excluded.reason "
    "WHERE excluded.began_us > began_us";

// The same for waits: the visits of a run over POP3 are one row, from the first to the last.
inline constexpr std::string_view put_wait =
    "INSERT INTO waits VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
    "ON CONFLICT(observer, mailbox, way, server) WHERE waiting = 2 DO UPDATE SET "
    "opened_us = min(opened_us, excluded.opened_us), began_us = min(began_us, excluded.began_us), "
    "ended_us = max(ended_us, excluded.ended_us)";

}  // namespace postal::ledger
