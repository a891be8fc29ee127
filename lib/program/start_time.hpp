// SPDX-License-Identifier: GPL-3.0-or-later
// When a run shall begin, as people write it: `2026-11-21T12:00:00Z`, or the time of day here,
// `12:00` or `12:00:30`, today or, where that is over, tomorrow.
//
// What is over, and what lies more than a day ahead, is refused with one line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "load/watched.hpp"

namespace postal::program {

using wall_time = std::chrono::system_clock::time_point;

base::expected<wall_time> parse_start(std::string_view text, wall_time now);

// As it is written in UTC.
std::string format_start(wall_time start);

// The same instant of the steady clock, as the two clocks are at this moment.
load::steady_time on_steady_clock(wall_time when);

}  // namespace postal::program
