// SPDX-License-Identifier: GPL-3.0-or-later
// The per-interval log: a header, then one line for each interval, each flushed.
//
// csv       time,messages,data(K),errors,connections,SSL connections     as the original programs
// extended  the same, then p50_ms,p90_ms,p99_ms,max_ms (of the message phase, empty when there is
//           no value), the other counters that an interval has (see counters.hpp), connect_errors,
//           timeouts,errors_4xx,errors_5xx,other_errors,busy_percent,wait_percent,idle_percent; of
//           a closed loop with a rate asked, too; of several ranks ranks, how many had a part
// Behind the original columns, rabid has IMAP connections in both, and programs that run agents
// deferred,rejected,agents_running,agent_p50_ms,agent_p99_ms (no second rejected and deferred in
// extended).
// jsonl     one JSON object a line, the record's interval object with "time" in front; no header
//
// time is the local time of the interval's end: HH:MM when intervals are whole minutes, HH:MM:SS
// when not; to the nearest second, since an interval ends a moment after it was due. In JSON it is
// the date too, in UTC with milliseconds (RFC 3339). data(K) is
// whole KiB. write() fails when the stream does (disk full, reader gone), with one line.
#pragma once

#include "base/result.hpp"
#include "stats/log_format.hpp"
#include "stats/run_report.hpp"

#include <cstdio>
#include <string>

namespace postal::stats {

class interval_log {
  public:
    // The stream must outlive this and is never closed.
    interval_log(std::FILE* stream, log_format format, const run_description& description);

    [[nodiscard]] base::expected<void> write_header();
    [[nodiscard]] base::expected<void> write(const interval_row& row);

    // The texts alone, without line ends; the header is empty for jsonl.
    [[nodiscard]] std::string header() const;
    [[nodiscard]] std::string line(const interval_row& row) const;

  private:
    [[nodiscard]] base::expected<void> put(std::string text);
    // What text_of() makes of each counter that is logged so.
    template <class Text>
    [[nodiscard]] std::string counters(logged from, Text text_of) const;

    std::FILE* stream_;
    log_format format_;
    run_description run_;
    bool whole_minutes_;
};

}  // namespace postal::stats
