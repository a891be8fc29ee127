// SPDX-License-Identifier: GPL-3.0-or-later
// How a figure grows with a size: the exponent b of value = a n^b, with its interval.
//
// In each block b is the slope of the straight line through ln(value) over ln(n) by least squares.
// Blocks are the replicates: the exponent is the mean of their slopes, its interval that of
// Student's t of blocks - 1 degrees of freedom, so that what all variants of a block share (a
// machine that was busy then) takes nothing from its honesty. A block counts that is not voided and
// has positive values at two sizes or more; where sizes are missing in some blocks, their slopes
// are those of the others.
//
// What does not grow as a power has an exponent all the same, that of the straight line: n log n
// from 100 to 100,000 has 1.13. Nothing fails, and no number is NaN or infinite. What is never in a
// block that counts has no exponent: those of the others would be of the lucky ones.
#pragma once

#include "stats/experiment/comparison.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace postal::stats {

struct growth {
    std::size_t blocks = 0;                         // that count
    double exponent = 0;                            // their mean
    std::optional<std::array<double, 2>> interval;  // from two blocks on
    double coefficient = 0;                         // a, where n is 1
};

// `sizes` by variant, positive ones; nothing: the variant has none. At level 1 - alpha. Empty where
// no block counts, or one has a value that is infinite.
[[nodiscard]] std::optional<growth> growth_of(const metric_table& table,
                                              std::span<const std::optional<double>> sizes,
                                              double alpha);

}  // namespace postal::stats
