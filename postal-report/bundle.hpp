// SPDX-License-Identifier: GPL-3.0-or-later
// Results that strangers can check: one archive of what was measured and what was printed of it.
// docs/runs.md says how; verified.hpp holds what was printed against what follows.
#pragma once

#include "cli/main.hpp"
#include "postal-report/options.hpp"

namespace postal::report {

// Nothing is written unless all of it can be read, and has no secret that is known as one.
cli::exit_status write_bundle(const options& wanted);

}  // namespace postal::report
