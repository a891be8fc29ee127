// SPDX-License-Identifier: GPL-3.0-or-later
// Results that were kept, as the baseline of gates: folders of results of the same experiment, on
// the same kind of machine, from earlier days.
//
// The newest `most_kept` are taken. One that did not come to its end, is damaged, has no verdict
// that counts, or missed a gate itself is left out, and named. Fails, so that nothing is measured
// in vain, where one is of another experiment or another kind of machine, with the difference:
// another processor, number of processors, memory (by more than 5 %) or kernel. Versions of servers
// may differ; that is what gates are about.
#pragma once

#include "base/result.hpp"
#include "experiment/record.hpp"

#include <string>
#include <vector>

namespace postal::experiment {

struct kept_results {
    std::vector<kept_result> kept{};      // oldest first
    std::vector<std::string> left_out{};  // "FOLDER: why"
};

// now: with experiment, host and gates of what is going to run; own: its folder, which is none of
// them.
[[nodiscard]] base::expected<kept_results> read_kept(const std::string& folder,
                                                     const experiment_record& now,
                                                     const std::string& own);

}  // namespace postal::experiment
