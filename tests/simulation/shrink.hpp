// SPDX-License-Identifier: GPL-3.0-or-later
// Makes a scenario that fails smaller, as long as it fails: fewer sessions and messages, faults
// taken away, options as they are by default, one at a time and again until nothing more goes.
#pragma once

#include <functional>

#include "scenario.hpp"

namespace simulation {

// `fails` says whether a scenario still does.
[[nodiscard]] scenario shrink(scenario failing, const std::function<bool(const scenario&)>& fails);

}  // namespace simulation
