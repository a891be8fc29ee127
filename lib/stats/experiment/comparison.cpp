// SPDX-License-Identifier: GPL-3.0-or-later
// All is counted in logarithms until the figures are filled in; ratios are for readers.
#include "stats/experiment/comparison.hpp"

#include "stats/experiment/outliers.hpp"

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

constexpr double power = 0.8;

double ratio_of(double log) {
    return std::exp(std::clamp(log, -largest_log, largest_log));
}

std::optional<double> log_value(const metric_table& table, std::size_t block, std::size_t variant) {
    const auto value = ranked_value(table, block, variant);
    return value && std::isfinite(*value) ? std::optional(std::log(*value)) : std::nullopt;
}

std::optional<double> log_difference(const metric_table& table, std::size_t block,
                                     std::size_t baseline, std::size_t variant) {
    const auto from = log_value(table, block, baseline);
    const auto to = log_value(table, block, variant);
    if (!from || !to) return std::nullopt;
    return *to - *from;
}

// A sample of so many blocks with that mean and scatter, rounded as another is.
paired_sample planned(std::size_t count, double mean, double deviation, const paired_sample& as) {
    return {.count = count,
            .mean = mean,
            .deviation = deviation,
            .freedom = static_cast<double>(count) - 1,
            .rounding = as.rounding};
}

// The least number of blocks, from `from` on, that is enough; all above it are, too.
template <class Enough>
std::size_t least_blocks(std::size_t from, Enough enough) {
    std::size_t least = from;
    std::size_t above = std::max(most_blocks + 1, from);
    while (least < above) {
        const std::size_t middle = (least + above) / 2;
        if (enough(middle))
            above = middle;
        else
            least = middle + 1;
    }
    return std::min(least, most_blocks + 1);
}

// The share of experiments with that mean and scatter that come to a verdict: over what the scatter
// of each may look like.
double decided_share(const paired_sample& truth, double alpha, double margin) {
    constexpr int steps = 32;
    const auto below = [&](double mean) {
        return std::erfc((truth.mean - mean) / truth.standard_error() / std::sqrt(2)) / 2;
    };
    double undecided = 0;
    for (int step = 0; step < steps; ++step) {
        paired_sample seen = truth;
        seen.deviation = deviation_at(truth, (step + 0.5) / steps);
        const double from = std::max(0.0, std::log1p(margin) - t_half_width(seen, 2 * alpha));
        const double to = t_half_width(seen, alpha);
        if (to > from) undecided += below(to) - below(from) + below(-from) - below(-to);
    }
    return 1 - undecided / steps;
}

struct pair {
    std::size_t baseline = 0;
    std::size_t variant = 0;
};

struct difference {
    std::size_t block = 0;  // in the table
    double log = 0;
    double rounding = 0;  // its variance
};

double rounding_variance(const metric_table::block& of, pair which) {
    if (of.steps.empty()) return 0;
    return step_variance(of.steps[which.baseline]) + step_variance(of.steps[which.variant]);
}

std::vector<difference> differences_of(const metric_table& table, pair which) {
    std::vector<difference> all;
    for (std::size_t i = 0; i < table.blocks.size(); ++i)
        if (const auto one = log_difference(table, i, which.baseline, which.variant))
            all.push_back({i, *one, rounding_variance(table.blocks[i], which)});
    return all;
}

double rounding_of(const std::vector<difference>& differences) {
    double sum = 0;
    for (const difference& one : differences)
        sum += one.rounding;
    return differences.empty() ? 0 : std::sqrt(sum / static_cast<double>(differences.size()));
}

std::vector<double> logs_of(const std::vector<difference>& differences) {
    std::vector<double> logs;
    for (const difference& one : differences)
        logs.push_back(one.log);
    return logs;
}

std::array<double, 2> ratios_of(const log_interval& of) {
    return {ratio_of(of.mean - of.half), ratio_of(of.mean + of.half)};
}

std::optional<without_outliers> leave_out_outliers(const metric_table& table,
                                                   const std::vector<difference>& differences,
                                                   double alpha, double margin) {
    const std::vector<double> logs = logs_of(differences);
    const auto apart = outliers_of(logs, alpha);
    if (apart.empty()) return std::nullopt;
    without_outliers made;
    std::vector<double> kept;
    for (std::size_t i = 0; i < logs.size(); ++i) {
        if (std::ranges::count(apart, i) > 0)
            made.blocks.push_back(differences[i].block);
        else
            kept.push_back(logs[i]);
    }
    const log_interval of =
        interval_of(sample_of(kept, all_differences, rounding_of(differences)), alpha);
    made.ratio = ratio_of(of.mean);
    made.interval = ratios_of(of);
    if (table.carries_verdict) made.verdict = judge(of, margin, table.direction);
    return made;
}

void compare_by_rank(comparison& made, const metric_table& table, double alpha) {
    std::size_t higher = 0;
    std::size_t lower = 0;
    for (std::size_t block = 0; block < table.blocks.size(); ++block) {
        const auto from = ranked_value(table, block, made.baseline);
        const auto to = ranked_value(table, block, made.variant);
        if (!from || !to) continue;
        higher += *to > *from ? 1 : 0;
        lower += *to < *from ? 1 : 0;
    }
    if (higher + lower > 0)
        made.probability = std::min(1.0, 2 * sign_tail(higher + lower, std::max(higher, lower)));
    if (!table.carries_verdict || made.blocks < fewest_blocks) return;
    made.few = made.blocks < enough_blocks;
    made.verdict = comparison_verdict::undecided;
    if (made.probability.value_or(1) > alpha) return;
    made.verdict = (higher > lower) == (table.direction == metric_direction::higher_is_better)
                       ? comparison_verdict::faster
                       : comparison_verdict::slower;
}

comparison compare_pair(const metric_table& table, pair which, double alpha,
                        const comparison_settings& settings) {
    const auto differences = differences_of(table, which);
    const std::vector<double> logs = logs_of(differences);
    const double rounding = rounding_of(differences);
    const paired_sample of =
        sample_of(logs, settings.wanted_width ? pilot_blocks : all_differences, rounding);
    comparison made;
    made.baseline = which.baseline;
    made.variant = which.variant;
    made.never = never_of(table, which.baseline, which.variant);
    made.blocks = made.never.any() ? made.never.blocks : of.count;
    made.voided = static_cast<std::size_t>(
        std::ranges::count(table.blocks, true, &metric_table::block::voided));
    made.left_out = left_out_of(table, which.baseline, which.variant);
    made.level = 1 - alpha;
    if (made.never.any()) {
        compare_by_rank(made, table, alpha);
        return made;
    }
    if (of.count >= 1) made.ratio = ratio_of(of.mean);
    if (of.count < 2) return made;

    const log_interval around = interval_of(of, alpha);
    made.interval = ratios_of(around);
    made.half_width = std::expm1(around.half);
    made.probability = t_probability(of);
    paired_sample scattered = of;
    scattered.deviation = deviation_limit(of, deviation_level);
    made.smallest_detectable = shown_from(scattered, alpha, settings.margin);
    made.blocks_as_seen = blocks_as_seen(of, alpha, settings.margin);
    made.needed_blocks = needed_blocks(of, alpha, settings.margin);
    if (settings.wanted_width && of.count >= pilot_blocks) {
        const paired_sample pilot =
            sample_of(std::span(logs).first(pilot_blocks), all_differences, rounding);
        made.blocks_for_width = blocks_for_width(pilot, alpha, *settings.wanted_width);
    }
    if (of.count >= flipped_from) {
        made.flipped = sign_flip(logs, settings.seed);
        made.flipped->probability = std::max(made.flipped->probability, rounding_probability(of));
    }
    made.without = leave_out_outliers(table, differences, alpha, settings.margin);
    if (!table.carries_verdict || of.count < fewest_blocks) return made;
    made.verdict = judge(around, settings.margin, table.direction);
    made.few = of.count < enough_blocks;
    return made;
}

}  // namespace

std::vector<double> log_differences(const metric_table& table, std::size_t baseline,
                                    std::size_t variant) {
    return logs_of(differences_of(table, {baseline, variant}));
}

double log_rounding_of(const metric_table& table, std::size_t baseline, std::size_t variant) {
    return rounding_of(differences_of(table, {baseline, variant}));
}

std::optional<double> ranked_value(const metric_table& table, std::size_t block,
                                   std::size_t variant) {
    const metric_table::block& of = table.blocks[block];
    if (of.voided) return std::nullopt;
    if (variant >= of.values.size() || !of.values[variant]) return std::nullopt;
    const double value = std::max(*of.values[variant], table.floor);
    return value > 0 ? std::optional(value) : std::nullopt;
}

std::size_t left_out_of(const metric_table& table, std::size_t baseline, std::size_t variant) {
    std::size_t count = 0;
    for (std::size_t block = 0; block < table.blocks.size(); ++block) {
        const metric_table::block& of = table.blocks[block];
        const bool are_run = of.is_run.empty() || (of.is_run[baseline] && of.is_run[variant]);
        if (of.voided || !are_run) continue;
        const bool are_known =
            ranked_value(table, block, baseline) && ranked_value(table, block, variant);
        count += are_known ? 0 : 1;
    }
    return count;
}

double sign_tail(std::size_t coins, std::size_t heads) {
    double one = std::pow(0.5, static_cast<double>(coins));
    double tail = 0;
    for (std::size_t fewer = 0; fewer + heads <= coins; ++fewer) {
        tail += one;
        one *= static_cast<double>(coins - fewer) / static_cast<double>(fewer + 1);
    }
    return std::min(1.0, tail);
}

never_counts never_of(const metric_table& table, std::size_t baseline, std::size_t variant) {
    never_counts made;
    for (std::size_t block = 0; block < table.blocks.size(); ++block) {
        const auto from = ranked_value(table, block, baseline);
        const auto to = ranked_value(table, block, variant);
        if (!from || !to) continue;
        ++made.blocks;
        made.baseline += std::isinf(*from) ? 1 : 0;
        made.variant += std::isinf(*to) ? 1 : 0;
    }
    return made;
}

log_interval interval_of(const paired_sample& of, double alpha) {
    return {of.mean, t_half_width(of, alpha), t_half_width(of, 2 * alpha)};
}

comparison_verdict judge(const log_interval& of, double margin, metric_direction direction) {
    if (std::abs(of.mean) + of.half_equivalent <= std::log1p(margin))
        return comparison_verdict::equivalent;
    if (std::abs(of.mean) <= of.half) return comparison_verdict::undecided;
    return (of.mean > 0) == (direction == metric_direction::higher_is_better)
               ? comparison_verdict::faster
               : comparison_verdict::slower;
}

std::size_t needed_blocks(const paired_sample& of, double alpha, double margin) {
    const double deviation = deviation_limit(of, deviation_level);
    return least_blocks(fewest_blocks, [&](std::size_t count) {
        const paired_sample larger = planned(count, 0, deviation, of);
        return t_half_width(larger, alpha) + t_half_width(larger, 2 * alpha) <= std::log1p(margin);
    });
}

std::size_t blocks_as_seen(const paired_sample& of, double alpha, double margin) {
    return least_blocks(std::max(fewest_blocks, of.count + 1), [&](std::size_t count) {
        const paired_sample larger = planned(count, std::abs(of.mean), of.deviation, of);
        if (of.deviation == 0)
            return judge(interval_of(larger, alpha), margin, metric_direction::higher_is_better) !=
                   comparison_verdict::undecided;
        return decided_share(larger, alpha, margin) >= power;
    });
}

std::size_t blocks_for_width(const paired_sample& pilot, double alpha, double width) {
    const double most = static_cast<double>(most_blocks + 1);
    paired_sample scattered = pilot;
    scattered.rounding = 0;
    double blocks = std::pow(t_half_width(scattered, alpha) / std::log1p(width), 2) *
                    static_cast<double>(pilot.count);
    // No number of them makes it narrower than its values are known.
    const paired_sample rounded = planned(pilot.count, 0, 0, pilot);
    if (t_half_width(rounded, alpha) > std::log1p(width)) blocks = most;
    return std::max(pilot_blocks, static_cast<std::size_t>(std::ceil(std::min(blocks, most))));
}

double shown_from(const paired_sample& of, double alpha, double margin) {
    constexpr double many = 1e6;  // blocks: the normal distribution
    double shift = detectable_noncentrality(of.freedom, alpha, power) * of.standard_error();
    if (of.rounding > 0)
        shift = std::max(shift, detectable_noncentrality(many, alpha, power) * of.rounding);
    return std::max(1 + margin, ratio_of(shift));
}

experiment_result compare(const metric_table& table, const comparison_settings& settings) {
    std::vector<std::size_t> variants;
    for (std::size_t variant = 1; variant < table.variants; ++variant) {
        const bool twin = settings.same && std::ranges::count(*settings.same, 0U) > 0 &&
                          std::ranges::count(*settings.same, variant) > 0;
        if (!twin) variants.push_back(variant);
    }
    experiment_result made;
    for (const std::size_t variant : variants)
        made.comparisons.push_back(compare_pair(
            table, {0, variant}, settings.alpha / static_cast<double>(variants.size()), settings));
    if (settings.same) {
        const auto [first, second] = *settings.same;
        made.same = compare_pair(table, {first, second}, settings.alpha, settings);
        made.voided = made.same->verdict == comparison_verdict::faster ||
                      made.same->verdict == comparison_verdict::slower;
    }
    return made;
}

bool may_stop(std::span<const comparison> comparisons) {
    return !comparisons.empty() && std::ranges::all_of(comparisons, [](const comparison& one) {
        return one.blocks_for_width && one.blocks >= *one.blocks_for_width;
    });
}

}  // namespace postal::stats
