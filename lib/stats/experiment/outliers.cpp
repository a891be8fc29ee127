// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/experiment/outliers.hpp"

#include "stats/distributions.hpp"
#include "stats/experiment/paired.hpp"
#include "stats/moments.hpp"

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

// How far, in deviations, the farthest of `count` values is at most (Grubbs' limit).
double limit_of(std::size_t count, double alpha) {
    const auto n = static_cast<double>(count);
    const double t = t_limit(n - 2, alpha / (2 * n));
    return (n - 1) * t / std::sqrt((n - 2 + t * t) * n);
}

}  // namespace

std::vector<std::size_t> outliers_of(std::span<const double> values, double alpha) {
    if (values.size() < outliers_from) return {};
    std::vector<double> left(values.begin(), values.end());
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < values.size(); ++i)
        places.push_back(i);
    std::vector<std::size_t> taken;
    std::size_t apart = 0;
    const std::size_t most = std::max<std::size_t>(values.size() / 4, 1);
    while (taken.size() < most) {
        const moments of = moments_of(left);
        if (of.deviation() < log_rounding) break;
        const auto farthest = std::max_element(left.begin(), left.end(), [&](double a, double b) {
            return std::abs(a - of.mean) < std::abs(b - of.mean);
        });
        const bool is_far =
            std::abs(*farthest - of.mean) >
            limit_of(left.size(), alpha / static_cast<double>(most)) * of.deviation();
        const auto place = places.begin() + (farthest - left.begin());
        taken.push_back(*place);
        if (is_far) apart = taken.size();
        places.erase(place);
        left.erase(farthest);
    }
    taken.resize(apart);
    std::sort(taken.begin(), taken.end());
    return taken;
}

}  // namespace postal::stats
