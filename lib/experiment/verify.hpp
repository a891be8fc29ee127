// SPDX-License-Identifier: GPL-3.0-or-later
// What a folder of results says, recomputed from the runs' records.
#pragma once

#include "base/result.hpp"
#include "experiment/analysis.hpp"
#include "report/document.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace postal::experiment {

struct verification {
    report::document shown{};            // the verdicts, recomputed
    std::vector<std::string> found{};    // what is not as it should be, a line each
    std::vector<std::string> differs{};  // what another version made by other rules
    std::vector<std::string> noted{};    // what a reader has to know: voided and aborted runs
    std::set<std::string> named{};       // paths of all files that the record names
    std::size_t held = 0;                // files whose digests were compared with the record's
};

// Found are: a record that is missing or was changed, planned runs that nothing is known of though
// the experiment says that it is complete, and verdicts in the record that do not follow from the
// runs; where another version wrote the record, these differ. Lines may quote what the files say.
// Fails when the folder holds no record of an experiment.
[[nodiscard]] base::expected<verification> verify(const std::string& folder);
[[nodiscard]] base::expected<verification> verify(const std::string& folder,
                                                  const file_source& from);

}  // namespace postal::experiment
