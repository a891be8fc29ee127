// --queue, --sample-command and --sample-every: what is sampled beside a run.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"
#include "sampling/choice.hpp"

namespace postal::program {

cli::group sample_group(sampling::choice& target);

// What only shows when all options are known.
base::expected<void> check(const sampling::choice& chosen);

}  // namespace postal::program
