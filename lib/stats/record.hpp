// The run record: a run_report as one JSON object of the schema "postal-record/1".
//
// Numbers are finite always; what is not known (the percentile of nothing, the deviation of one
// interval) is null. Text that is not valid UTF-8 is written with replacement characters. A
// percentile is in microseconds. Extra keys beside those that the schema fixes: totals.started and
// .failed, totals_with_warmup, latency_us.*.min, options, transcript, workers, measured_s,
// generator.reason, errors[].reason (for code 0, where enhanced is empty), thresholds[].unit, and
// in an interval start_s, warmup, partial, the outcome counts, worker_busy and slip_p99_us; for
// programs that run agents "agents" (of the totals), and in an interval agents_running,
// agent_p50_us and agent_p99_us; for runs with TLS "tls": the library, full and resumed handshakes,
// and how many had which version, cipher, group and verification.
//
// write_record() writes a temporary file beside the wanted one and renames it, so that a reader
// never sees half a record; fails with one line (no such folder, disk full). "-" is standard
// output; a path that is not a regular file (a pipe, a device) is written straight to.
#pragma once

#include "base/result.hpp"
#include "stats/run_report.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace postal::stats {

[[nodiscard]] nlohmann::ordered_json to_json(const run_report& report);

// The one interval as in the record's "intervals".
[[nodiscard]] nlohmann::ordered_json to_json(const interval_row& row);

[[nodiscard]] base::expected<void> write_record(const run_report& report, const std::string& path);

// To be asked before the run: can a record be written there? Leaves nothing behind.
[[nodiscard]] base::expected<void> check_record_path(const std::string& path);

}  // namespace postal::stats
