// What a run has counted so far, as Prometheus' metrics: a row of the table of counters is one, and
// so is each phase's latency.
//
// All counts are of the whole run so far, the warm-up included, and never become less, as Prometheus
// wants its counters; docs/metrics.md lists them. How many there are is bounded: labels are words of
// our own and reply codes, never a peer's text.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <vector>

#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::metrics {

// What the report has no sum of.
struct beside_report {
    std::vector<stats::worker_time> workers;  // since the start
    bool in_warmup = false;
    stats::live_state now;
};

std::vector<prometheus::MetricFamily> families_of(const stats::run_report& so_far,
                                                  const beside_report& more);

}  // namespace postal::metrics
