// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment's tables hold besides texts, numbers and lists: commands and variables.
//
// Read as cli::section reads: what is absent leaves its target as it is, what is wrong is a
// complaint.
#pragma once

#include "cli/section.hpp"
#include "experiment/experiment.hpp"

#include <string_view>
#include <vector>

namespace postal::experiment {

using cli::complaint;
using cli::section;

// A list of texts, of which the first is the program.
void read_command(section& of, std::string_view key, command& into);
// A list of such lists.
void read_commands(section& of, std::string_view key, std::vector<command>& into);
// All keys: texts, and lists of texts.
void read_values(section& of, variables& into);

}  // namespace postal::experiment
