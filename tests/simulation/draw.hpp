// SPDX-License-Identifier: GPL-3.0-or-later
// A scenario from a seed; the only place where one is chosen.
#pragma once

#include <cstdint>

#include "scenario.hpp"

namespace simulation {

[[nodiscard]] scenario draw(std::uint64_t seed);

}  // namespace simulation
