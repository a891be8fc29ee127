// SPDX-License-Identifier: GPL-3.0-or-later
// What a run has counted so far, as Prometheus' metrics: a row of the table of counters is one, and
// so is each phase's latency.
//
// All counts are of the whole run so far, the warm-up included, and never become less, as
// Prometheus wants its counters; docs/metrics.md lists them. How many there are is bounded: labels
// are words of our own and reply codes, never a peer's text.
#pragma once

#include "metrics/beside_report.hpp"
#include "metrics/exposition.hpp"
#include "stats/run_report.hpp"

namespace postal::metrics {

exposition families_of(const stats::run_report& so_far, const beside_report& more);

// Of a run that is over: the same, and how long it took, its rate, latencies and thresholds, which
// leave the warm-up out and are the record's.
exposition results_of(const stats::run_report& ended, const beside_report& more);

}  // namespace postal::metrics
