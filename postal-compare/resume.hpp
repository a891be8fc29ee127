// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment that goes on has to be: the one that was begun.
//
// Two halves that differ in anything but time would be paired within a block, or more blocks would
// be added until a verdict pleases. So the text, the variables, the seed, the machine, its kernel
// and the servers' versions must be the same; durations, blocks and the width to end at are those
// of the record, and may be given again only if they are the same. Fails with one line that names
// the difference.
#pragma once

#include "base/result.hpp"
#include "experiment/analysis.hpp"
#include "experiment/experiment.hpp"
#include "experiment/versions.hpp"
#include "postal-compare/options.hpp"

#include <string>
#include <utility>
#include <vector>

namespace postal::compare {

using experiment::versions;

// `whole` gets what the record decides. `now` is what the programs say of themselves now.
[[nodiscard]] base::expected<void> take_up(const experiment::experiment_record& begun,
                                           const options& given, const versions& now,
                                           experiment::experiment& whole);

}  // namespace postal::compare
