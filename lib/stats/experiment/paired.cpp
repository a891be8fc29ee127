// SPDX-License-Identifier: GPL-3.0-or-later
// The noncentrality is found by bisection: the power rises with it, and Boost has no inverse.
#include "stats/experiment/paired.hpp"

#include "stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace postal::stats {
namespace {

double degrees_of_freedom(std::size_t count) {
    return static_cast<double>(count) - 1;
}

// Student's t of which is the normal distribution.
constexpr double normal = std::numeric_limits<double>::infinity();

}  // namespace

double paired_sample::standard_error() const noexcept {
    return deviation / std::sqrt(static_cast<double>(count));
}

paired_sample sample_of(std::span<const double> differences, std::size_t scatter_of,
                        double rounding) {
    const moments all = moments_of(differences);
    const moments scattered =
        differences.size() > scatter_of ? moments_of(differences.first(scatter_of)) : all;
    const double deviation = scattered.deviation();
    return {.count = all.count,
            .mean = std::abs(all.mean) < log_rounding ? 0 : all.mean,
            .deviation = deviation < log_rounding ? 0 : deviation,
            .freedom = degrees_of_freedom(scattered.count),
            .rounding = rounding};
}

double t_half_width(const paired_sample& of, double alpha) {
    const double scattered = t_limit(of.freedom, alpha / 2) * of.standard_error();
    const double rounded = of.rounding > 0 ? t_limit(normal, alpha / 2) * of.rounding : 0;
    return std::min(largest_log, std::max(scattered, rounded));
}

double t_probability(const paired_sample& of) {
    const double rounded = rounding_probability(of);
    if (of.deviation == 0) return of.mean == 0 ? 1 : rounded;
    const double t = std::abs(of.mean) / of.standard_error();
    return std::max(rounded, 2 * t_outside(of.freedom, t));
}

double rounding_probability(const paired_sample& of) {
    return of.rounding > 0 ? 2 * t_outside(normal, std::abs(of.mean) / of.rounding) : 0;
}

double detectable_noncentrality(double freedom, double alpha, double wanted_power) {
    const double limit = t_limit(freedom, alpha / 2);
    const auto shown = [&](double noncentrality) {
        return noncentral_t_outside(freedom, noncentrality, limit) >= wanted_power;
    };
    double below = 0;
    double above = std::max(limit, 0.0) + 1;
    while (!shown(above) && above < 1e6)
        below = std::exchange(above, 2 * above);
    while (above - below > 1e-10 * above) {
        const double middle = (below + above) / 2;
        (shown(middle) ? above : below) = middle;
    }
    return above;
}

double deviation_limit(const paired_sample& of, double level) {
    return of.deviation * std::sqrt(of.freedom / chi_squared_limit(of.freedom, level));
}

double deviation_at(const paired_sample& truth, double share) {
    return truth.deviation * std::sqrt(chi_squared_below(truth.freedom, share) / truth.freedom);
}

}  // namespace postal::stats
