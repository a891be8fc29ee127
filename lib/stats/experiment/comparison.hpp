// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment says of its variants: the same load was run against each of them once in every
// block, in random order, and each variant is compared with the first, the baseline.
//
// Flow: fill a metric_table for each metric; compare() it; print the comparisons. After each block
// may_stop() says whether there are as many blocks as a wanted width takes.
//
// A comparison uses the blocks in which both variants have a positive, finite value and that are
// not voided; where the table has a floor, what is below it counts as that much.
// In each of them d = ln(value of the variant) - ln(value of the baseline); the
// interval of the ratio is exp(mean of d -+ t * deviation of d / sqrt(blocks)), with Student's t of
// blocks - 1 degrees of freedom, at level 1 - alpha / m for m comparisons (Bonferroni), and never
// narrower than the steps allow in which the values are known (paired.hpp). That two
// are equivalent is said at the same alpha / m, so that with 1 - alpha no verdict of an experiment
// is wrong.
//
// A value may be plus infinity: never, which is above every number. Where a pair has one, there is
// no mean and no ratio, and leaving those blocks out would make a variant the better the more often
// it fails. All blocks of the pair are then compared by which of the two values is the higher one,
// and the verdict is that of the sign test.
//
// One metric of an experiment carries its verdict, and says so in its table. The others are
// exploratory: they have the same figures and the verdict `none`.
//
// Nothing here fails, and no number is NaN or infinite: what cannot be known is an empty optional.
#pragma once

#include "base/words.hpp"
#include "stats/experiment/paired.hpp"
#include "stats/experiment/sign_flip.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace postal::stats {

enum class metric_direction { higher_is_better, lower_is_better };

// One metric of every run.
struct metric_table {
    struct block {
        // By variant; one that is not there is missing, and an infinite one is never.
        std::vector<std::optional<double>> values;
        bool voided = false;
        std::vector<bool> is_run{};  // by variant; empty: all of them are
        // By variant, in logarithms: how wide the step is that its value is the middle of. Empty:
        // all are exact.
        std::vector<double> steps{};
    };

    metric_direction direction = metric_direction::higher_is_better;
    bool carries_verdict = true;
    // What a lesser value, 0 included, counts as: what cannot be told apart from 0. 0: none is.
    double floor = 0;
    std::size_t variants = 0;  // the first is the baseline
    std::vector<block> blocks;
};

struct comparison_settings {
    double alpha = 0.05;  // of all comparisons together; above 0, below 1
    // Ratios from 1 / (1 + margin) to 1 + margin make no difference in practice.
    double margin = 0.02;
    // Two variants that are declared to be the same (A/A). If one is the baseline, the other is not
    // compared with it for a verdict.
    std::optional<std::array<std::size_t, 2>> same = std::nullopt;
    std::uint64_t seed = 1;  // of sampled sign flips
    // The half width, as a share, that each interval is to have at most. The first `pilot_blocks`
    // of a pair say how many blocks that takes, and the scatter of its interval (Stein 1945),
    // however many follow.
    std::optional<double> wanted_width = std::nullopt;
};

inline constexpr std::size_t fewest_blocks = 3;  // for a verdict
inline constexpr std::size_t enough_blocks = 6;
inline constexpr std::size_t flipped_from = 6;
inline constexpr std::size_t most_blocks = 1000;
inline constexpr double deviation_level =
    0.8;  // of the upper limit of the scatter that is planned with
inline constexpr std::size_t pilot_blocks = 6;

// In this order: too few blocks are `none`; an interval at 1 - 2 alpha / m (two one-sided tests at
// alpha / m) that lies within the margin is `equivalent`, even when it leaves out 1, since a
// difference that is sure and too small to matter is none in practice; an interval at `level` that
// leaves out 1 is `faster` or `slower`; the rest is `undecided`.
enum class comparison_verdict { none, equivalent, faster, slower, undecided };
constexpr auto words_of(comparison_verdict) {
    return std::to_array<std::string_view>({"", "equivalent", "faster", "slower", "undecided"});
}

// What a pair would say without the blocks that stand apart from its others.
struct without_outliers {
    std::vector<std::size_t> blocks{};  // that stand apart, in metric_table::blocks
    double ratio = 1;
    std::array<double, 2> interval{};
    comparison_verdict verdict = comparison_verdict::none;
};

// In how many blocks the values of a pair are never, and how many it has.
struct never_counts {
    std::size_t baseline = 0;
    std::size_t variant = 0;
    std::size_t blocks = 0;
    [[nodiscard]] bool any() const noexcept { return baseline + variant > 0; }
    bool operator==(const never_counts&) const = default;
};

struct comparison {
    std::size_t baseline = 0;
    std::size_t variant = 0;
    std::size_t blocks = 0;    // that are used
    std::size_t voided = 0;    // blocks
    std::size_t left_out = 0;  // see left_out_of()
    double level = 0;          // of the interval, as a share

    never_counts never{};         // where there are any, what follows is empty but the probability
    std::optional<double> ratio;  // variant to baseline; from one block on

    // From two blocks on.
    std::optional<std::array<double, 2>> interval;  // of the ratio: lower, upper
    // As a share: the interval is from ratio / (1 + half_width) to ratio * (1 + half_width).
    std::optional<double> half_width;
    // Of the t test, two-sided, not corrected for m; with never of the sign test.
    std::optional<double> probability;
    // A ratio above 1 that so many blocks show, at `level`, with a power of 80 % or more: where
    // their deviation is at the upper limit (one-sided, 80 %) of what they say of it. Never within
    // the margin, where a difference is none. Below 1 it is the reciprocal.
    std::optional<double> smallest_detectable;
    // With so many blocks there is a verdict in 80 % of experiments, if ratio and scatter are as
    // these blocks have them; more than `blocks`. At most `most_blocks` + 1, which stands for more.
    std::optional<std::size_t> blocks_as_seen;
    // With so many blocks there is a verdict, whatever the ratio is: the half widths at `level` and
    // at that of equivalence are together no more than the margin, where the deviation is at its
    // upper limit. So it is more than `blocks` while a verdict is undecided. At most `most_blocks`
    // + 1, which stands for more.
    std::optional<std::size_t> needed_blocks;
    // That the wanted width takes; from `pilot_blocks` on.
    std::optional<std::size_t> blocks_for_width;

    std::optional<sign_flip_test> flipped;    // from `flipped_from` blocks on, not corrected for m
    std::optional<without_outliers> without;  // where blocks stand apart, see outliers.hpp

    comparison_verdict verdict = comparison_verdict::none;
    bool few = false;  // there is a verdict, from fewer than `enough_blocks`
};

struct experiment_result {
    std::vector<comparison> comparisons;  // by variant
    // Of the two that are declared to be the same, at level 1 - alpha; not one of the m.
    std::optional<comparison> same;
    // `same` is faster or slower: the experiment tells apart what is the same, so its verdicts do
    // not count.
    bool voided = false;
};

[[nodiscard]] experiment_result compare(const metric_table& table,
                                        const comparison_settings& settings);

// The figures that a verdict is made from, in logarithms; what compare() uses.
struct log_interval {
    double mean = 0;
    double half = 0;             // at level 1 - alpha
    double half_equivalent = 0;  // at 1 - 2 alpha
};
// ln(variant) - ln(baseline) of each block that has both.
[[nodiscard]] std::vector<double> log_differences(const metric_table& table, std::size_t baseline,
                                                  std::size_t variant);
// Of these differences: paired_sample::rounding.
[[nodiscard]] double log_rounding_of(const metric_table& table, std::size_t baseline,
                                     std::size_t variant);
// Of a value that is the middle of so wide a step, its deviation from the true one, squared.
[[nodiscard]] constexpr double step_variance(double step) {
    return step * step / 12;
}
[[nodiscard]] never_counts never_of(const metric_table& table, std::size_t baseline,
                                    std::size_t variant);
// Blocks that are not voided, in which both were run and one of the two values is not known.
[[nodiscard]] std::size_t left_out_of(const metric_table& table, std::size_t baseline,
                                      std::size_t variant);
// The value of a variant in a block as it is ranked: a positive number or never, and nothing where
// it is missing or the block is voided.
[[nodiscard]] std::optional<double> ranked_value(const metric_table& table, std::size_t block,
                                                 std::size_t variant);
// How probable it is that of so many coins as many show heads, or more: exact.
[[nodiscard]] double sign_tail(std::size_t coins, std::size_t heads);
// Of two differences or more.
[[nodiscard]] log_interval interval_of(const paired_sample& of, double alpha);
[[nodiscard]] comparison_verdict judge(const log_interval& of, double margin,
                                       metric_direction direction);

// A ratio above 1 that so many blocks show in 80 % of experiments or more, where the deviation of
// ln(ratio) between blocks is known.
[[nodiscard]] double shown_from(const paired_sample& of, double alpha, double margin);

// See the members of `comparison` of these names; `alpha` is that of the pair. `pilot` is of
// `pilot_blocks`.
[[nodiscard]] std::size_t blocks_as_seen(const paired_sample& of, double alpha, double margin);
[[nodiscard]] std::size_t needed_blocks(const paired_sample& of, double alpha, double margin);
[[nodiscard]] std::size_t blocks_for_width(const paired_sample& pilot, double alpha, double width);

// Whether an experiment may end early: each pair has as many blocks as its wanted width takes. That
// was settled by its first blocks' scatter; what came later, and what the ratios are, has no part
// in it.
[[nodiscard]] bool may_stop(std::span<const comparison> comparisons);

}  // namespace postal::stats
