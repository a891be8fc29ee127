// SPDX-License-Identifier: GPL-3.0-or-later
// Folders that postal-compare and postal-audit have written to. A build without experiments
// (POSTAL_EXPERIMENTS) knows such a folder, and refuses it.
#pragma once

#include <string>

#include "cli/main.hpp"
#include "postal-report/options.hpp"

namespace postal::report {

bool is_experiment(const std::string& path);

// The folder that is the first of the records.
cli::exit_status show_experiment(const options& wanted);

}  // namespace postal::report
