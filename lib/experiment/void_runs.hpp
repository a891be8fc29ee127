// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run counts.
//
// A block is voided by a run in it that failed, that was cut short, whose load generator was the
// limit, whose share of errors is above the bound, or that delivered nothing; of readers that watch
// (rabid --watch) by one in which none of their sessions was open, for where nothing is told of
// there is nothing to read. Where the verdict or a gate is about how soon readers are told, their
// errors and sessions void nothing: who was thrown out was told nothing, and that is never.
#pragma once

#include "experiment/results.hpp"

#include <string>

namespace postal::experiment {

// Whether what is asked for is how soon readers are told: then those who were thrown out, or never
// let in, were told nothing, and their run must not be left out for it.
[[nodiscard]] bool asks_who_was_told(const experiment_record& of);

// Why its block is voided; empty: it is not. `untold_counts`: see above, and it is known.
[[nodiscard]] std::string why_void(const measured_run& run, bool untold_counts,
                                   const experiment_record& of);

// What readers of the run went through that counts as never; empty: nothing.
[[nodiscard]] std::string why_untold(const measured_run& run, const experiment_record& of);

}  // namespace postal::experiment
