// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of a run must have in common, and what each has of its own: the options, and
// files. Nothing here fails.
#pragma once

#include <cstdint>
#include <string>

#include "stats/run_description.hpp"

namespace postal::program {

// What must be the same at all ranks, a line each.
std::string load_of(const stats::run_description& run);

// "out.json" of rank 2 is "out.rank-2.json"; standard output ("-") is rank 0's, and gives "".
std::string file_of_rank(const std::string& file, std::uint64_t rank);

}  // namespace postal::program
