// SPDX-License-Identifier: GPL-3.0-or-later
// Load Classification and Conditional Throughput (RFC 9971, its two appendices of code, line by
// line).
#pragma once

#include "stats/capacity/goal.hpp"

#include <cstdint>
#include <vector>

namespace postal::capacity {

enum class load_class : std::uint8_t {
    undecided,  // more trials are needed
    lower,      // a Lower Bound
    upper,      // an Upper Bound
    exhausted   // undecided after all of the Goal Duration Sum, which no more trials are spent on
};

// Of the trials at one load, by a goal's or target's Final Trial Duration and Loss Ratio; in
// seconds.
struct duration_sums {
    double full_length_low_s = 0;
    double full_length_high_s = 0;
    double short_low_s = 0;
    double short_high_s = 0;
};

// lower, upper or undecided.
[[nodiscard]] load_class classify(const duration_sums& sums, double duration_sum_s,
                                  double exceed_ratio);

struct full_length_trial {
    double loss_ratio = 0;
    double effective_s = 0;
};

// Messages a second; of a load with at least one full-length trial.
[[nodiscard]] double conditional_throughput(double load, std::vector<full_length_trial> trials,
                                            double duration_sum_s, double exceed_ratio);

}  // namespace postal::capacity
