// SPDX-License-Identifier: GPL-3.0-or-later
// What the charts of an experiment's page draw, as JSON between <script> tags; see chart_data.hpp.
//
// Over time: of each variant the mean over its runs that count, point by point: messages a minute,
// processors in use, and what the storage's devices did. At most some 300 points a variant, for
// which neighbouring intervals are put together; the costs are those of the same spans of time.
// Where there are few runs, each one's rate is there, too. Latencies: the distributions of these
// runs in one.
//
// Growth: of each latency, and each verb, a point at each size, the geometric mean over the blocks.
//
// Of more than `most_drawn` variants the first is drawn and those that differ most from it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiment/analysis.hpp"

namespace postal::report {

inline constexpr std::size_t most_drawn = 12;

// What is drawn of one metric over time: its key in the data, and what the page says of it.
struct quantity {
    const char* key;
    const char* title;
    const char* caption;
};

struct experiment_charts {
    std::string data;                // JSON
    std::vector<std::size_t> drawn;  // the variants, ascending
    std::size_t together = 1;        // intervals that a point stands for, at most
    bool rates = false;              // there are points over time
    bool runs = false;               // with the runs' own rates
    bool latencies = false;
    std::vector<const quantity*> costs;  // those that any run has
    std::size_t compared = 0;            // rows of the chart of ratios
    std::size_t growths = 0;             // lines of the chart of growth with a size
};

experiment_charts charts_of(const experiment::results& of, const experiment::analysis& found);

}  // namespace postal::report
