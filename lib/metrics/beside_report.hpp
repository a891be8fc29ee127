// SPDX-License-Identifier: GPL-3.0-or-later
// What a run's report has no sum of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "stats/live_line.hpp"
#include "stats/run_report.hpp"

namespace postal::metrics {

struct beside_report {
    std::vector<stats::worker_time> workers;  // since the start
    bool in_warmup = false;
    stats::live_state now;

    void add(const stats::time_slice& last) {
        in_warmup = last.in_warmup;
        workers.resize(std::max(workers.size(), last.workers.size()));
        for (std::size_t i = 0; i < last.workers.size(); ++i)
            workers[i].add_time(last.workers[i]);
    }
};

}  // namespace postal::metrics
