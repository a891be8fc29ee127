// SPDX-License-Identifier: GPL-3.0-or-later
// --dry-run of rabid: where it would read, as whom, how fast, and what it would do there.
#pragma once

#include <string>

#include "rabid/plan.hpp"

namespace postal::rabid {

// Lines for standard output.
std::string describe_dry_run(const plan& of);

}  // namespace postal::rabid
