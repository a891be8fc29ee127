// SPDX-License-Identifier: GPL-3.0-or-later
// Results that strangers can check: one archive of what was measured and what was printed of it,
// and whether the one follows from the other. docs/runs.md says how; docs/errors.md has the
// statuses.
#pragma once

#include "cli/main.hpp"
#include "postal-report/options.hpp"

namespace postal::report {

// Nothing is written unless all of it can be read, and has no secret that is known as one.
cli::exit_status write_bundle(const options& wanted);

// Of a bundle, or a folder of results. Prints what follows from the files, then each thing that is
// wrong in a line of its own.
cli::exit_status verify_bundle(const options& wanted);

}  // namespace postal::report
