// SPDX-License-Identifier: GPL-3.0-or-later
// Folders that postal-compare and postal-audit have written to. A build without experiments
// (POSTAL_EXPERIMENTS) knows such a folder, and refuses it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/main.hpp"
#include "postal-report/options.hpp"
#include "postal-report/packed.hpp"
#include "postal-report/recomputed.hpp"

namespace postal::report {

bool is_experiment(const std::string& path);

// The folder that is the first of the records.
cli::exit_status show_experiment(const options& wanted);

// What of such a folder goes into a bundle: the records, and what they name.
base::expected<packed_files> pack_experiment(const std::string& path);
// What is printed of these, "results/experiment.json" and so on.
base::expected<recomputed> results_printed(const bundle::files& all);
// The folder itself, against what its own records say.
base::expected<recomputed> verify_experiment(const std::string& path);

}  // namespace postal::report
