// SPDX-License-Identifier: GPL-3.0-or-later
// --title, --note and --tag: what a person calls a run.
//
// Texts are one line of UTF-8 without control characters: a title of up to 200 octets, a note of up
// to 1000, up to 32 tags KEY=VALUE. A key is what Prometheus takes for a label, of up to 64 octets
// and given once; a value has up to 200 octets. Anything else is refused with the reason.
#pragma once

#include "cli/options.hpp"
#include "stats/run_labels.hpp"

#include <vector>

namespace postal::cli {

std::vector<option> label_rows(stats::run_labels& labels);

}  // namespace postal::cli
