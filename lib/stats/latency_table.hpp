// SPDX-License-Identifier: GPL-3.0-or-later
// The table of latencies in a summary: a row for each phase that has values.
#pragma once

#include "stats/run_record.hpp"

#include <cstddef>
#include <string>

namespace postal::stats {

// Lines that end in LF, with an empty one in front; nothing where no phase has a value. Of the
// columns as many as fit into `width`, p99 at least.
[[nodiscard]] std::string latency_table(const run_record& of, std::size_t width);

}  // namespace postal::stats
