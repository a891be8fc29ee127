// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a run on many machines: a table with a line for each, the same as CSV, and what the
// chart of them draws.
//
// Nothing for records of one process. Values of a hostile record are clamped, never trusted: a
// share of more than all is shown as it is written.
#pragma once

#include <string>
#include <vector>

#include "postal-report/csv.hpp"
#include "postal-report/record.hpp"
#include "report/table.hpp"

namespace postal::report {

// With several records, which one is the first column.
table rank_table(const std::vector<record>& records);

// One line for each rank of each record.
sheet sheet_of_ranks(const std::vector<record>& records);

// Those that a chart shows: all of them up to 16, of more the one that accepted most, the median
// and the one that accepted least, in this order.
std::vector<const stats::rank_share*> charted_ranks(const record& one);
// JSON: [{"label", "intervals": [[start_s, end_s, messages a minute], ...]}, ...]; as the intervals
// of the record are, at most 750 points each.
std::string rank_series(const record& one);

}  // namespace postal::report
