// SPDX-License-Identifier: GPL-3.0-or-later
// Student's t for paired differences, and what it takes to plan with it.
//
// The differences are those of logarithms, one for each block of a randomised complete block
// design, so that a mean of d says a ratio of exp(d). Nothing here fails or throws, and nothing
// becomes NaN or infinite: where there is neither scatter nor rounding an interval has no width,
// and what would be too large is cut at `largest_log`.
//
// Values that are known in steps alone (the middle of a histogram's bucket, or of the two bounds of
// a search) are each up to half a step wrong, and where runs scatter by less than a step all of
// them are wrong by the same: no number of blocks says anything about it. An interval is therefore
// never narrower than that of the rounding's own deviation, which is a step's width / sqrt(12) for
// each of the two values (simulated in coverage_test.cpp).
#pragma once

#include "stats/moments.hpp"

#include <cstddef>
#include <limits>
#include <span>

namespace postal::stats {

// exp() of it is finite.
inline constexpr double largest_log = 700;

// What is below it, of a difference of logarithms, is rounding: 0 is put in its place.
inline constexpr double log_rounding = 1e-12;

// A mean of all differences, and a scatter that may be of the first ones alone.
struct paired_sample {
    std::size_t count = 0;  // of all
    double mean = 0;
    double deviation = 0;  // of a difference
    double freedom = 0;    // the deviation's degrees of freedom; from two differences on
    double rounding = 0;   // the deviation of an error that all differences may share

    [[nodiscard]] double standard_error() const noexcept;
};

inline constexpr std::size_t all_differences = std::numeric_limits<std::size_t>::max();

// With the scatter of the first `scatter_of`. Who lets it decide how many follow must go on with
// that one (Stein 1945): the scatter of all would be too small, since experiments in which it came
// out small are the ones that end.
[[nodiscard]] paired_sample sample_of(std::span<const double> differences,
                                      std::size_t scatter_of = all_differences,
                                      double rounding = 0);

// Half the width of the two-sided interval of the mean at level 1 - alpha, from two values on.
[[nodiscard]] double t_half_width(const paired_sample& of, double alpha);

// Two-sided, that the mean is 0; from two values on. Without scatter and rounding 0, or 1 where the
// mean is 0.
[[nodiscard]] double t_probability(const paired_sample& of);
// That rounding alone takes a mean so far away from 0, on either side: 0 where there is none.
[[nodiscard]] double rounding_probability(const paired_sample& of);

// The mean difference, in standard errors, that the two-sided test at `alpha` shows on its own side
// with the given probability (noncentral t).
[[nodiscard]] double detectable_noncentrality(double freedom, double alpha, double power);

// The upper limit (one-sided) of the deviation behind a sample's (chi-square), from two values on.
// Browne, On the use of a pilot sample for sample size determination (1995), plans with 80 or 90 %.
[[nodiscard]] double deviation_limit(const paired_sample& of, double level);

// The quantile of the deviation that samples have whose differences scatter like that.
[[nodiscard]] double deviation_at(const paired_sample& truth, double share);

}  // namespace postal::stats
