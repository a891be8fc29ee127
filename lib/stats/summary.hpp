// SPDX-License-Identifier: GPL-3.0-or-later
// The summary that a person reads at the end of a run, on standard error.
//
// Result first, a unit on every number, latencies as a table by phase, errors by kind with a
// sample, at most about 25 lines whatever happened; lines end in LF. Text from servers is printable
// already. Pure: returns the text. Nothing here fails; runs without a message say so.
#pragma once

#include "stats/run_record.hpp"

#include <cstddef>
#include <string>

namespace postal::stats {

// The table of latencies has as many columns as fit into `width`; other lines may be longer.
[[nodiscard]] std::string format_summary(const run_record& of, std::size_t width = 80);

}  // namespace postal::stats
