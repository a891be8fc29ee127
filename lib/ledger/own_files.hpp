// SPDX-License-Identifier: GPL-3.0-or-later
// SQLite's way to files, without what somebody else's files could make it do.
//
// A journal beside a database may name a super-journal, any file, which SQLite removes once it has
// rolled back; ledgers are one database and have none, so none is opened. A ledger is in
// write-ahead mode from its beginning: a reader opens no rollback journal either, and a file that
// has one is refused by SQLite (SQLITE_READONLY_ROLLBACK). Links in place of helpers SQLite does
// not follow.
//
// A file of some KiB can have SQLite sort some TiB (pages that lead round in circles, long values).
// So all temporary files of a process together have 64 MiB and what allow_temporary() adds; a
// statement that needs more ends with SQLITE_INTERRUPT.
#pragma once

#include <cstdint>

namespace postal::ledger {

// The names of the two for sqlite3_open_v2(); null when there is no memory.
const char* files_for_writers() noexcept;
const char* files_for_readers() noexcept;

void allow_temporary(std::uint64_t octets) noexcept;

// Removes the helpers (FILE-wal, FILE-shm) that a reader had to make for the database at `path`, by
// SQLite's own rules, as long as the log is empty; nothing when somebody else uses them.
void tidy_helpers(const char* path) noexcept;

}  // namespace postal::ledger
