// SPDX-License-Identifier: GPL-3.0-or-later
// A trial of a search of the highest rate, as workers are told of it: how many messages fall due
// when, and what of them is counted; and, where a trial left more than the server gets rid of, that
// nothing more of it is begun.
#pragma once

#include "stats/trial_counts.hpp"

#include <vector>

namespace postal::load {

struct trial {
    stats::trial_times times;  // since the start of the run
    double messages = 0;       // of the whole run, from the begin to the end
    std::vector<stats::trial_promise> promises;
    // No trial begins, the one that goes on ends: what has fallen due by now and has not begun is
    // not started.
    bool only_ends = false;
};

}  // namespace postal::load
