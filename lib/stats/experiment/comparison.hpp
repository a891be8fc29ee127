// What an experiment says of its variants: the same load was run against each of them once in every
// block, in random order, and each variant is compared with the first, the baseline.
//
// Flow: fill a metric_table for each metric; compare() it; print the comparisons. After each block
// may_stop() says whether the intervals are narrow enough.
//
// A comparison uses the blocks in which both variants have a positive, finite value and that are not
// voided. In each of them d = ln(value of the variant) - ln(value of the baseline); the interval of the
// ratio is exp(mean of d -+ t * deviation of d / sqrt(blocks)), with Student's t of blocks - 1 degrees of
// freedom, at level 1 - alpha / m for m comparisons (Bonferroni).
//
// One metric of an experiment carries its verdict, and says so in its table. The others are
// exploratory: they have the same figures and the verdict `none`.
//
// Nothing here fails, and no number is NaN or infinite: what cannot be known is an empty optional.
#pragma once

#include "stats/experiment/sign_flip.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace postal::stats {

enum class metric_direction { higher_is_better, lower_is_better };

// One metric of every run.
struct metric_table {
    struct block {
        std::vector<std::optional<double>> values;  // by variant; one that is not there is missing
        bool voided = false;
    };

    metric_direction direction = metric_direction::higher_is_better;
    bool carries_verdict = true;
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
};

// In this order: too few blocks are `none`; an interval at 90 % (two one-sided tests at 5 %) that
// lies within the margin is `equivalent`, even when it leaves out 1, since a difference that is sure
// and too small to matter is none in practice; an interval at `level` that leaves out 1 is `faster` or
// `slower`; the rest is `undecided`.
enum class comparison_verdict { none, equivalent, faster, slower, undecided };

struct comparison {
    std::size_t baseline = 0;
    std::size_t variant = 0;
    std::size_t blocks = 0;    // that are used
    std::size_t voided = 0;    // blocks
    std::size_t left_out = 0;  // blocks that are not voided and lack one of the two values
    double level = 0;          // of the interval, as a share

    std::optional<double> ratio;  // variant to baseline; from one block on

    // From two blocks on.
    std::optional<std::array<double, 2>> interval;  // of the ratio: lower, upper
    // As a share: the interval is from ratio / (1 + half_width) to ratio * (1 + half_width).
    std::optional<double> half_width;
    std::optional<double> probability;  // of the t test, two-sided, not corrected for m
    // The smallest ratio above 1 that so many blocks with their scatter show, at `level`, with a power
    // of 80 %. Below 1 it is the reciprocal.
    std::optional<double> smallest_detectable;
    // With so many blocks there is a verdict, whatever the ratio is: the half widths at `level` and at
    // 90 % are together no more than the margin, where the deviation is at the upper limit (one-sided,
    // 80 %) of what these blocks say of it. So it is more than `blocks` while a verdict is undecided. At
    // most `most_blocks` + 1, which stands for more.
    std::optional<std::size_t> needed_blocks;

    std::optional<sign_flip_test> flipped;  // from `flipped_from` blocks on, not corrected for m

    comparison_verdict verdict = comparison_verdict::none;
    bool few = false;  // there is a verdict, from fewer than `enough_blocks`
};

inline constexpr std::size_t fewest_blocks = 3;  // for a verdict
inline constexpr std::size_t enough_blocks = 6;
inline constexpr std::size_t flipped_from = 6;
inline constexpr std::size_t most_blocks = 1000;
inline constexpr std::size_t stop_from = 5;

struct experiment_result {
    std::vector<comparison> comparisons;  // by variant
    // Of the two that are declared to be the same, at level 1 - alpha; not one of the m.
    std::optional<comparison> same;
    // `same` is faster or slower: the experiment tells apart what is the same, so its verdicts do not
    // count.
    bool voided = false;
};

[[nodiscard]] experiment_result compare(const metric_table& table,
                                        const comparison_settings& settings);

// The figures that a verdict is made from, in logarithms; what compare() uses.
struct log_interval {
    double mean = 0;
    double half = 0;     // at level 1 - alpha
    double half_90 = 0;  // at 90 %
};
// ln(variant) - ln(baseline) of each block that has both.
[[nodiscard]] std::vector<double> log_differences(const metric_table& table, std::size_t baseline,
                                                  std::size_t variant);
// Of two differences or more.
[[nodiscard]] log_interval interval_of(std::span<const double> differences, double alpha);
[[nodiscard]] comparison_verdict judge(const log_interval& of, double margin,
                                       metric_direction direction);

// Whether an experiment may end early: each comparison has at least `stop_from` blocks and a half
// width of at most `half_width`, as a share. What the ratios are has no part in it.
[[nodiscard]] bool may_stop(std::span<const comparison> comparisons, double half_width);

}  // namespace postal::stats
