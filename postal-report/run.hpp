// SPDX-License-Identifier: GPL-3.0-or-later
// The report on a run, or on several side by side.
//
// With one record a table has the shape that says most; with several, each record is a column and
// numbers also say how far they are from the first record's. A table that has nothing to say is
// left out by sections(). The records carry their labels (see label()).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "postal-report/csv.hpp"
#include "postal-report/record.hpp"
#include "report/document.hpp"

namespace postal::report {

table result_table(const std::vector<record>& records);
table outcome_table(const std::vector<record>& records);
table latency_table(const std::vector<record>& records);
table error_table(const std::vector<record>& records);
table threshold_table(const std::vector<record>& records);
table generator_table(const std::vector<record>& records);
table security_table(const std::vector<record>& records);
table mailbox_table(const std::vector<record>& records);
table retry_table(const std::vector<record>& records);
table integrity_table(const std::vector<record>& records);
// Of servers: how their clients used connections, and what lmtp-deliver's agents did.
table connection_table(const std::vector<record>& records);
table limit_table(const std::vector<record>& records);
table agent_table(const std::vector<record>& records);
// Of rabid over IMAP: commands by kind, and what a profile wanted and did.
table command_table(const std::vector<record>& records);
table profile_table(const std::vector<record>& records);
table size_table(const std::vector<record>& records);
table host_table(const std::vector<record>& records);
// What several records were compared for, and the other options; one record has only the latter.
inline constexpr const char* compared_name = "compared";
table differing_options_table(const std::vector<record>& records);
table option_table(const std::vector<record>& records);
table interval_table(const record& one);
// What the charts over time draw beside latencies, by the interval or the second, as they do;
// without rows where all of it stands in interval_table().
table course_table(const record& one);
// Leaves the first rows, and says so where there are more.
void keep_first(table& of, std::size_t most_rows, std::string_view of_what);

// The tables that are always shown, without empty ones: what was compared, then the result.
std::vector<table> sections(const std::vector<record>& records);

// What most readers look up only: each record's intervals, of them no more than most_rows, the
// options, and host and run. Without empty ones.
std::vector<table> details(const std::vector<record>& records, std::size_t most_rows);

// One line for each further record of several: the options, programs and hosts in which it differs
// from the first, and how far its rate and latencies are from it.
std::vector<std::string> differences(const std::vector<record>& records);

// What must not be overlooked, one sentence each: a generator that was the limit, thresholds not
// met, mail that was corrupt, a transcript that was on, no message at all.
std::vector<remark> remarks(const record& one);

// The remarks of all records, gravest first; where there are several records each text begins with
// the labels of those that it is true of.
std::vector<remark> all_remarks(const std::vector<record>& records);

// "postal 1.0.0 on host, started 2026-01-01T00:00:00.000Z, 10m, of which 1m warm-up"
std::string describe(const record& one);

// What was tested and how, as far as the record says: "127.0.0.1:25 over smtp, 4 sessions, at 30/s,
// …"
std::string tested(const record& one);

// The counters of that kind.
std::vector<counter> counters_of(stats::counter_rows rows, counter_kind kind);

// The messages that have ended, however they did.
double ended(const record& one);

// On a page the result in large type, and the charts that the records have something for.
block headline(const std::vector<record>& records);
std::vector<chart> charts(const std::vector<record>& records);

// What stands at the foot of pages about runs.
inline constexpr const char* footnote_of_runs =
    "Totals, rates and latencies leave the warm-up out; what is shown over time has it. A message "
    "counts once, when the server has taken responsibility for it.";

// Who ran, what must not be overlooked, and the tables, result first. `records` is not empty.
document document_of(const std::vector<record>& records, medium wanted);

// A line for each record. The columns and their order stay, and those of counters follow them;
// those of phases, TLS and agents, at the end, are there when any record has such.
sheet sheet_of(const std::vector<record>& records);

}  // namespace postal::report
