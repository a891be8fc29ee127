// SPDX-License-Identifier: GPL-3.0-or-later
// The run record as one JSON object of the schema "postal-record/1".
//
// What is not known (the percentile of nothing, the deviation of one interval) is null. Its members
// are in record_fields.hpp, and explained in postal(8). It is read back with record_reader.hpp.
#pragma once

#include "base/result.hpp"
#include "stats/run_report.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace postal::stats {

// Indented by that many blanks; on one line without line end if there are none.
[[nodiscard]] std::string record_text(const run_record& record, int indent = -1);
[[nodiscard]] inline std::string record_text(const run_report& report, int indent = -1) {
    return record_text(report.record(), indent);
}

// The one interval as in the record's "intervals", on one line, with "time" in front.
[[nodiscard]] std::string interval_text(const run_description& run, const interval_row& row,
                                        std::string_view time);

// As base::write_file() does.
[[nodiscard]] base::expected<void> write_record(const run_record& record, const std::string& path);

// UTC, ISO 8601: "2026-01-01T00:00:00.000Z".
[[nodiscard]] std::string timestamp(std::chrono::system_clock::time_point time);

}  // namespace postal::stats
