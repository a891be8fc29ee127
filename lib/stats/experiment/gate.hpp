// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a change stays within a bound that somebody set: what a build is let through by.
//
// A gate asks of the ratio of a variant to the baseline whether it is above its bound, or below it.
// The differences are those of comparison.hpp, and each answer is a one-sided t test of them:
// "kept" is said wrongly in at most `alpha` of experiments whose true ratio is beyond the bound,
// "missed" in at most `alpha` of those whose true ratio is within it. What neither shows is "open".
//
// Nothing here fails, and no number is NaN or infinite.
#pragma once

#include "base/words.hpp"
#include "stats/experiment/paired.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace postal::stats {

struct gate_bound {
    double ratio = 1;      // above 0
    bool is_above = true;  // the ratio of variant to baseline has to be above it, or below it
};

enum class gate_verdict : std::uint8_t { none, kept, missed, open };
constexpr auto words_of(gate_verdict) {
    return std::to_array<std::string_view>({"", "kept", "missed", "open"});
}

struct gate_result {
    gate_verdict verdict = gate_verdict::none;  // from comparison.hpp's `fewest_blocks` on
    std::size_t blocks = 0;                     // or kept results
    std::optional<double> ratio;                // variant to baseline; from one block on
    // From two blocks on: the ratio is at least the first, and it is at most the second; each holds
    // in 1 - alpha of experiments.
    std::optional<std::array<double, 2>> limits;
    // From two blocks on: with a true ratio of this, or farther beyond the bound, so many blocks
    // say "missed" in 80 % of experiments or more, where their deviation is at the upper limit
    // (one-sided, 80 %) of what they say of it.
    std::optional<double> shown_from;
};

// What a result says against earlier ones, which are all values in logarithms: as a sample of as
// many differences, with the error of a new value around the mean of these. Their scatter is all
// that there is between two results, what changes from day to day included.
[[nodiscard]] paired_sample sample_against(std::span<const double> kept, double now);

// `of` are differences of logarithms; alpha is one-sided, above 0 and below 0.5.
[[nodiscard]] gate_result judge_gate(const paired_sample& of, const gate_bound& bound,
                                     double alpha);

}  // namespace postal::stats
