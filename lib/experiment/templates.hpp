// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment's texts and commands must be before anything of them is done: every ${name} in
// them has a value in each variant, and the one that formats a device names it.
#pragma once

#include "experiment/section.hpp"

namespace postal::experiment {

// Of all variants of a file that was read without a complaint.
void check_templates(const experiment& whole, complaint& problems);

}  // namespace postal::experiment
