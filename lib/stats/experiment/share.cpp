// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/experiment/share.hpp"

#include "stats/distributions.hpp"

#include <cmath>

namespace postal::stats {

share_bounds bounds_of_share(std::uint64_t successes, std::uint64_t trials) {
    constexpr double outside = 0.05;
    if (trials == 0) return {};
    const auto n = static_cast<double>(trials);
    if (successes == 0) return {0, 1 - std::pow(outside, 1 / n)};
    const auto k = static_cast<double>(successes);
    const double high = successes >= trials ? 1 : highest_share(n, k, outside / 2);
    return {lowest_share(n, k, outside / 2), high};
}

}  // namespace postal::stats
