// SPDX-License-Identifier: GPL-3.0-or-later
// Whether what was printed of results follows from them. docs/runs.md says how; docs/errors.md has
// the statuses.
//
// Nothing is made of files that the manifest does not stand for, and before anything that is signed
// is believed its signature is checked. What the files say is somebody else's.
#pragma once

#include "cli/main.hpp"
#include "postal-report/options.hpp"

namespace postal::report {

// Of a bundle, or a folder of results. Prints what follows from the files, then each thing that is
// wrong in a line of its own.
cli::exit_status verify_bundle(const options& wanted);

}  // namespace postal::report
