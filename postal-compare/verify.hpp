// SPDX-License-Identifier: GPL-3.0-or-later
// postal-compare --verify: what a folder of results says, recomputed from the runs' records.
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace postal::compare {

struct verification {
    std::string text{};                // the verdicts, recomputed; safe to print
    std::vector<std::string> found{};  // what is not as it should be, a line each
    std::vector<std::string> noted{};  // what a reader has to know: voided and aborted runs
};

// Found are: a record that is missing or was changed, planned runs that nothing is known of though
// the experiment says that it is complete, and verdicts in the record that do not follow from the
// runs. Fails when the folder holds no record of an experiment.
[[nodiscard]] base::expected<verification> verify(const std::string& folder);

}  // namespace postal::compare
