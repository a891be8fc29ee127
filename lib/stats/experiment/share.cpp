// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/experiment/share.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <cmath>

namespace postal::stats {

share_bounds bounds_of_share(std::uint64_t successes, std::uint64_t trials) {
    constexpr double outside = 0.05;
    using boost::math::binomial;
    if (trials == 0) return {};
    const auto n = static_cast<double>(trials);
    if (successes == 0) return {0, 1 - std::pow(outside, 1 / n)};
    const auto k = static_cast<double>(successes);
    const double high =
        successes >= trials ? 1 : binomial::find_upper_bound_on_p(n, k, outside / 2);
    return {binomial::find_lower_bound_on_p(n, k, outside / 2), high};
}

}  // namespace postal::stats
