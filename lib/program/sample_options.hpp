// SPDX-License-Identifier: GPL-3.0-or-later
// --queue, --sample-command and --sample-every: what is sampled beside a run.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"
#include "sampling/choice.hpp"

#include <string>
#include <vector>

namespace postal::program {

cli::group sample_group(sampling::choice& target);

// What only shows when all options are known.
// Thresholds on what is not sampled are refused.
base::expected<void> check(const sampling::choice& chosen,
                           const std::vector<std::string>& thresholds);

}  // namespace postal::program
