// SPDX-License-Identifier: GPL-3.0-or-later
// One simulated run, from its scenario to what is wrong with it.
//
// Everything is made anew but for the apparatus. The run is over when nobody waits for anything any
// more; what has not come to its end by then hangs, and what goes on for longer than anybody's
// patience together does not end, which is wrong, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apparatus.hpp"
#include "scenario.hpp"

namespace simulation {

struct result {
    std::vector<std::string> wrong{};  // empty: nothing
    std::uint64_t steps = 0;
    std::uint64_t messages = 0;  // started
    std::uint64_t accepted = 0;
    std::uint64_t in_doubt = 0;
};

enum class shown : bool { nothing, transcript };

[[nodiscard]] result perform(const scenario& of, apparatus& with, shown what = shown::nothing);

}  // namespace simulation
