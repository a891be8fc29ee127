// SPDX-License-Identifier: GPL-3.0-or-later
// What a number of trials says about the share of all trials that would come out so.
#pragma once

#include <cstdint>

namespace postal::stats {

struct share_bounds {
    double low = 0;
    double high = 1;
};

// At 95 %. Where there was none among the trials the upper bound is one-sided, 1 - 0.05^(1/trials),
// of which 3/trials is the approximation; otherwise both are those of Clopper and Pearson (1934).
// `successes` is at most `trials`; without a trial anything is possible.
[[nodiscard]] share_bounds bounds_of_share(std::uint64_t successes, std::uint64_t trials);

}  // namespace postal::stats
