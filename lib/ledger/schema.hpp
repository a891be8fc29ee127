// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of a ledger, and how a file is found to be one.
//
// A ledger is an SQLite database with our application id; user_version is the version of the
// schema. Writers refuse another version, and no file is ever changed to one. Readers also take
// schema 5, which does not say when readers were told of messages (`waits` is empty there), schema
// 4, which too has no sizes of messages (`octets` is NULL there), schema 3, which too of a
// reader's watches has only the last of each mailbox and no `returned`, and schema 2, whose runs do
// not say where they looked: `visits` and `removed` are empty there, too, and so is the column
// notes_visits of `runs`. docs/ledger.md explains each column.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "ledger/database.hpp"

namespace postal::ledger {

inline constexpr std::int64_t application_id = 0x506f734c;  // "PosL"
inline constexpr std::int64_t schema_version = 6;
inline constexpr std::int64_t oldest_schema = 2;  // that can be read

// For a writer: makes the ledger if there is none, in write-ahead mode. Each failure is one line.
base::expected<database> open_to_write(const std::string& path);

// Whether that would do, as far as a look shows it: nothing is made or changed.
base::expected<void> check_to_write(const std::string& path);

// For a reader, also of a file that it may not write to; the ledger must be there.
base::expected<database> open_to_read(const std::string& path);

// A ledger without rows that is gone with its owner; it lies in a temporary file.
base::expected<database> make_temporary();

}  // namespace postal::ledger
