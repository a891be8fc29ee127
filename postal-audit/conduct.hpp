// SPDX-License-Identifier: GPL-3.0-or-later
// Runs an audit from its controls to its findings, and keeps its record.
#pragma once

#include "cli/main.hpp"
#include "experiment/experiment.hpp"
#include "postal-audit/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace postal::audit {

// Refuses with one line what can be refused before anything is begun; then blocks until the audit
// is over or interrupted, and prints what it found on standard output. The journal and the record
// in the folder of results are true at every moment.
[[nodiscard]] cli::exit_status conduct(const options& given, const experiment::experiment& whole,
                                       std::uint64_t seed, const std::vector<std::string>& argv);

}  // namespace postal::audit
