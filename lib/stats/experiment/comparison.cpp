// All is counted in logarithms until the figures are filled in; ratios are for readers.
#include "stats/experiment/comparison.hpp"

#include "stats/experiment/paired.hpp"

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

constexpr double equivalence_alpha = 0.1;
constexpr double power = 0.8;
constexpr double deviation_level = 0.8;

double ratio_of(double log) {
    return std::exp(std::clamp(log, -largest_log, largest_log));
}

std::optional<double> log_value(const metric_table::block& block, std::size_t variant) {
    if (variant >= block.values.size()) return std::nullopt;
    const std::optional<double>& value = block.values[variant];
    if (!value || !(*value > 0) || !std::isfinite(*value)) return std::nullopt;
    return std::log(*value);
}

std::optional<double> log_difference(const metric_table::block& block, std::size_t baseline,
                                     std::size_t variant) {
    if (block.voided) return std::nullopt;
    const auto from = log_value(block, baseline);
    const auto to = log_value(block, variant);
    if (!from || !to) return std::nullopt;
    return *to - *from;
}

std::size_t needed_blocks(const moments& of, double alpha, double margin) {
    moments planned{.count = 2};
    const double deviation = deviation_limit(of, deviation_level);
    const auto enough = [&](std::size_t count) {
        planned.count = count;
        planned.squares = deviation * deviation * static_cast<double>(count - 1);
        return t_half_width(planned, alpha) + t_half_width(planned, equivalence_alpha) <=
               std::log1p(margin);
    };
    std::size_t least = fewest_blocks;
    std::size_t above = most_blocks + 1;
    while (least < above) {
        const std::size_t middle = (least + above) / 2;
        if (enough(middle))
            above = middle;
        else
            least = middle + 1;
    }
    return least;
}

struct pair {
    std::size_t baseline = 0;
    std::size_t variant = 0;
};

comparison compare_pair(const metric_table& table, pair which, double alpha,
                        const comparison_settings& settings) {
    const auto differences = log_differences(table, which.baseline, which.variant);
    const moments of = moments_of_logs(differences);
    comparison made;
    made.baseline = which.baseline;
    made.variant = which.variant;
    made.blocks = of.count;
    made.voided = static_cast<std::size_t>(
        std::ranges::count(table.blocks, true, &metric_table::block::voided));
    made.left_out = table.blocks.size() - made.voided - made.blocks;
    made.level = 1 - alpha;
    if (of.count >= 1) made.ratio = ratio_of(of.mean);
    if (of.count < 2) return made;

    const log_interval around = interval_of(differences, alpha);
    made.interval = {ratio_of(of.mean - around.half), ratio_of(of.mean + around.half)};
    made.half_width = std::expm1(around.half);
    made.probability = t_probability(of);
    made.smallest_detectable = ratio_of(detectable_noncentrality(of.count, alpha, power) *
                                        of.deviation() / std::sqrt(static_cast<double>(of.count)));
    made.needed_blocks = needed_blocks(of, alpha, settings.margin);
    if (of.count >= flipped_from) made.flipped = sign_flip(differences, settings.seed);
    if (!table.carries_verdict || of.count < fewest_blocks) return made;
    made.verdict = judge(around, settings.margin, table.direction);
    made.few = of.count < enough_blocks;
    return made;
}

}  // namespace

std::vector<double> log_differences(const metric_table& table, std::size_t baseline,
                                    std::size_t variant) {
    std::vector<double> differences;
    for (const auto& block : table.blocks)
        if (const auto difference = log_difference(block, baseline, variant))
            differences.push_back(*difference);
    return differences;
}

log_interval interval_of(std::span<const double> differences, double alpha) {
    const moments of = moments_of_logs(differences);
    return {of.mean, t_half_width(of, alpha), t_half_width(of, equivalence_alpha)};
}

comparison_verdict judge(const log_interval& of, double margin, metric_direction direction) {
    if (std::abs(of.mean) + of.half_90 <= std::log1p(margin)) return comparison_verdict::equivalent;
    if (std::abs(of.mean) <= of.half) return comparison_verdict::undecided;
    return (of.mean > 0) == (direction == metric_direction::higher_is_better)
               ? comparison_verdict::faster
               : comparison_verdict::slower;
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

bool may_stop(std::span<const comparison> comparisons, double half_width) {
    return !comparisons.empty() && std::ranges::all_of(comparisons, [&](const comparison& one) {
        return one.blocks >= stop_from && one.half_width && *one.half_width <= half_width;
    });
}

}  // namespace postal::stats
