// SPDX-License-Identifier: GPL-3.0-or-later
// A scenario for people.
#pragma once

#include <string>

#include "scenario.hpp"

namespace simulation {

// A few lines: what is unlike a plain run.
[[nodiscard]] std::string text(const scenario& of);

}  // namespace simulation
