// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment, as it is written, can measure: so that nothing is measured in vain.
//
// Nothing here fails. Limit: only what no run can have is known; whether a run has it shows then.
#pragma once

#include "experiment/experiment.hpp"

#include <string>

namespace postal::experiment {

// Why some variant has no value of that metric in any run, as what would be right; empty where all
// may have one.
[[nodiscard]] std::string why_unmeasured(metric about, const experiment& whole);

}  // namespace postal::experiment
