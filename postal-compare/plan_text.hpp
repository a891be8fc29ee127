// SPDX-License-Identifier: GPL-3.0-or-later
// What --plan shows: the order of the runs, the time that they take, and what that time buys.
#pragma once

#include "experiment/experiment.hpp"

#include <cstdint>
#include <string>

namespace postal::compare {

// `seed` decides the order. Safe to print.
[[nodiscard]] std::string plan_text(const experiment::experiment& whole, std::uint64_t seed);

}  // namespace postal::compare
