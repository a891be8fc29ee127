// What the main functions of the programs that run a fleet share: from options to the fleet's plan
// and the console's options, and from the run's result to an exit status.
#pragma once

#include <cstddef>

#include "cli/main.hpp"
#include "cli/run_options.hpp"
#include "load/fleet.hpp"
#include "load/run_console.hpp"

namespace postal::program {

load::fleet_plan fleet_plan_of(const cli::run_options& chosen, std::size_t phases);

load::console_options console_options_of(const cli::run_options& chosen);

cli::exit_status status_of(load::run_result result) noexcept;

}  // namespace postal::program
