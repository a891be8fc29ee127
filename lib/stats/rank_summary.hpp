// SPDX-License-Identifier: GPL-3.0-or-later
// What a person must know of the ranks of a run, in a few lines.
//
// How many there were, how far apart they began and ended, which were lost and which missed the
// start. Pure; nothing for a run of one process. At most some ten lines, whatever happened. Host
// names stand as they came: who prints them makes them harmless.
#pragma once

#include "stats/rank_share.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

struct rank_line {
    std::string_view label;  // empty where it belongs to the line before
    std::string text;
    bool bad = false;  // the figures are not those of the run that was asked for
};
[[nodiscard]] std::vector<rank_line> rank_lines(const std::vector<rank_share>& ranks);

// "rank 3 on HOST"
[[nodiscard]] std::string name_of(const rank_share& one);

}  // namespace postal::stats
