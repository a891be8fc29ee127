// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/experiment/gate.hpp"

#include "stats/experiment/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

double from_log(double log) {
    return std::exp(std::clamp(log, -largest_log, largest_log));
}

}  // namespace

paired_sample sample_against(std::span<const double> kept, double now) {
    paired_sample of = sample_of(kept);
    of.mean = now - of.mean;
    // deviation / sqrt(count) becomes deviation * sqrt(1 + 1 / count).
    of.deviation *= std::sqrt(static_cast<double>(of.count) + 1);
    return of;
}

gate_result judge_gate(const paired_sample& of, const gate_bound& bound, double alpha) {
    gate_result made;
    made.blocks = of.count;
    if (of.count >= 1) made.ratio = from_log(of.mean);
    if (of.count < 2) return made;
    // Each end of a two-sided interval at 1 - 2 alpha is a limit at 1 - alpha.
    const double half = t_half_width(of, 2 * alpha);
    made.limits = {from_log(of.mean - half), from_log(of.mean + half)};
    paired_sample scattered = of;
    scattered.deviation = deviation_limit(of, deviation_level);
    const double shown = shown_from(scattered, 2 * alpha, 0);
    made.shown_from = bound.is_above ? bound.ratio / shown : bound.ratio * shown;
    if (of.count < fewest_blocks) return made;
    const double above = std::log(bound.ratio);
    const bool is_surely_above = of.mean - half > above;
    const bool is_surely_below = of.mean + half < above;
    if (is_surely_above || is_surely_below)
        made.verdict =
            is_surely_above == bound.is_above ? gate_verdict::kept : gate_verdict::missed;
    else
        made.verdict = gate_verdict::open;
    return made;
}

}  // namespace postal::stats
