// SPDX-License-Identifier: GPL-3.0-or-later
// Taking both sides around the variant's mean leaves the slope as it is (Frisch and Waugh), also
// where runs are missing, and needs no matrix.
#include "stats/experiment/validity.hpp"

#include "stats/distributions.hpp"
#include "stats/experiment/paired.hpp"
#include "stats/moments.hpp"
#include "stats/rate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace postal::stats {
namespace {

constexpr std::size_t batch_size = 5;
constexpr std::size_t fewest_batches = 10;

double change_of(double log) {
    return std::expm1(std::clamp(log, -largest_log, largest_log));
}

struct point {
    double number = 0;
    double log = 0;
};

// The mean of the runs that have the same key.
template <class Key>
std::map<std::size_t, point> means_by(Key key, std::span<const run_in_order> runs,
                                      std::span<const point> points) {
    std::map<std::size_t, point> means;
    std::map<std::size_t, double> counts;
    for (const run_in_order& run : runs)
        ++counts[run.*key];
    for (std::size_t i = 0; i < runs.size(); ++i) {
        point& mean = means[runs[i].*key];
        mean.number += points[i].number / counts[runs[i].*key];
        mean.log += points[i].log / counts[runs[i].*key];
    }
    return means;
}

// Whether what comes before differs from the rest by more than chance, with the rest's scatter.
bool differs_from(std::span<const double> before, std::span<const double> rest) {
    const level of = level_of(rest);
    const double share = static_cast<double>(before.size()) / static_cast<double>(rest.size());
    const double effective_before = std::max(1.0, share * of.effective);
    const double error = of.deviation * std::sqrt(1 / of.effective + 1 / effective_before);
    constexpr double one_percent = 0.01;
    return std::abs(of.mean - moments_of(before).mean) >
           t_limit(of.effective - 1, one_percent / 2) * error;
}

}  // namespace

std::optional<drift> drift_of(std::span<const run_in_order> all) {
    std::vector<run_in_order> runs;
    std::vector<point> points;
    for (const run_in_order& run : all) {
        if (!(run.value > 0) || !std::isfinite(run.value)) continue;
        runs.push_back(run);
        points.push_back({static_cast<double>(run.number), std::log(run.value)});
    }
    const auto variants = means_by(&run_in_order::variant, runs, points);
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const point& mean = variants.at(runs[i].variant);
        points[i] = {points[i].number - mean.number, points[i].log - mean.log};
    }
    const auto blocks = means_by(&run_in_order::block, runs, points);
    double xx = 0, xy = 0, yy = 0;
    for (const auto& [block, mean] : blocks) {
        xx += mean.number * mean.number;
        xy += mean.number * mean.log;
        yy += mean.log * mean.log;
    }
    // Where no variant is in two blocks, only rounding is left.
    if (blocks.size() < 3 || xx < 1e-9) return std::nullopt;
    const auto [first, last] = std::ranges::minmax(runs, {}, &run_in_order::number);
    const auto length = static_cast<double>(last.number - first.number);
    const auto freedom = static_cast<double>(blocks.size()) - 2;
    const double t = t_limit(freedom, 0.025);
    const double left = std::max(0.0, yy - xy * xy / xx);
    const double slope = xy / xx * length;
    const double half = t * std::sqrt(left / freedom / xx) * length;
    return drift{change_of(slope), {change_of(slope - half), change_of(slope + half)}};
}

std::optional<truncation> mser_5(std::span<const double> rates) {
    std::vector<double> batches;
    for (std::size_t i = 0; i + batch_size <= rates.size(); i += batch_size)
        batches.push_back(moments_of(rates.subspan(i, batch_size)).mean);
    if (batches.size() < fewest_batches) return std::nullopt;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t cut = 0; 2 * cut <= batches.size(); ++cut) {
        const moments rest = moments_of(std::span(batches).subspan(cut));
        const auto left = static_cast<double>(rest.count);
        const double rounding = left * std::pow(1e-9 * rest.mean, 2);
        const double statistic = rest.squares > rounding ? rest.squares / (left * left) : 0;
        if (statistic >= least) continue;
        least = statistic;
        best = cut;
    }
    return truncation{best * batch_size, 2 * (best + 1) <= batches.size()};
}

std::optional<warmup_check> check_warmup(std::span<const double> rates, std::size_t warmup,
                                         double tolerance) {
    const auto settles = mser_5(rates);
    if (!settles || warmup >= rates.size()) return std::nullopt;
    const double measured = moments_of(rates.subspan(warmup)).mean;
    if (!(measured > 0)) return std::nullopt;
    warmup_check made{.settles = *settles};
    if (settles->intervals <= warmup) return made;
    const auto settled = rates.subspan(settles->intervals);
    made.change = moments_of(settled).mean / measured - 1;
    made.too_short = std::abs(made.change) > tolerance &&
                     differs_from(rates.subspan(warmup, settles->intervals - warmup), settled);
    return made;
}

}  // namespace postal::stats
