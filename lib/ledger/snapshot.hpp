// SPDX-License-Identifier: GPL-3.0-or-later
// A ledger as one piece: its file with what its write-ahead log has, put together by SQLite's own
// rules, so that a log which is not this file's counts for nothing.
//
// looks_like_ledger() reads sixteen octets. snapshot() fails with one line where the file is no
// ledger, is damaged or locked, or has more than `most` octets.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace postal::ledger {

[[nodiscard]] bool looks_like_ledger(const std::string& path);

[[nodiscard]] base::expected<std::string> snapshot(const std::string& path, std::uint64_t most);

}  // namespace postal::ledger
