// SPDX-License-Identifier: GPL-3.0-or-later
// A run record (schema postal-record/1) as it is read back: what record_writer.hpp wrote, or what
// somebody else did.
//
// parse_record() refuses text that is no JSON, another schema, a value of the wrong type or a
// negative count with one line that names the key and what would be right. Keys that are not known
// are ignored; keys that are absent or null leave their default, apart from `schema`, `program` and
// `totals`, without which there is nothing to report. Phases come in the order of the protocol.
#pragma once

#include "base/result.hpp"
#include "stats/run_record.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace postal::stats {

// The text may be anything. What a failure's message quotes stands as it came. The rows stay with
// the record.
[[nodiscard]] base::expected<run_record> parse_record(std::string_view text,
                                                      counter_rows rows = all_counters());

// When a run was started, as records and ledgers write it ("2026-01-01T00:00:00.000Z"), in seconds
// since the epoch; nothing for a text of another form.
[[nodiscard]] std::optional<double> seconds_of_timestamp(const std::string& time);

}  // namespace postal::stats
