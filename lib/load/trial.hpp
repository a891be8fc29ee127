// SPDX-License-Identifier: GPL-3.0-or-later
// A trial of a search of the highest rate, as workers are told of it: how many messages fall due
// when, and what of them is counted.
#pragma once

#include "stats/trial_counts.hpp"

#include <vector>

namespace postal::load {

struct trial {
    stats::trial_times times;  // since the start of the run
    double messages = 0;       // of the whole run, from the begin to the end
    std::vector<stats::trial_promise> promises;
};

}  // namespace postal::load
