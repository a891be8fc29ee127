// SPDX-License-Identifier: GPL-3.0-or-later
// Which programs an experiment was made with.
#pragma once

#include "experiment/experiment.hpp"
#include "experiment/journal.hpp"
#include "experiment/supervisor.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::experiment {

// A program, and the first line that it says of its version.
using versions = std::vector<std::pair<std::string, std::string>>;

// `program`'s own, which is that of the suite, and that of each variant's server. `out`: the folder
// of the results.
[[nodiscard]] versions ask_versions(std::string_view program, const experiment& whole,
                                    const std::string& out, supervisor& by, journal& into);

}  // namespace postal::experiment
