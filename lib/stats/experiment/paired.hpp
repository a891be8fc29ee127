// Student's t for paired differences, and what it takes to plan with it.
//
// The differences are those of logarithms, one for each block of a randomised complete block design,
// so that a mean of d says a ratio of exp(d). Nothing here fails or throws, and nothing becomes NaN
// or infinite: where there is no scatter an interval has no width, and what would be too large is
// cut at `largest_log`.
#pragma once

#include "stats/moments.hpp"

#include <cstddef>
#include <span>

namespace postal::stats {

// exp() of it is finite.
inline constexpr double largest_log = 700;

// What is below it, of a difference of logarithms, is rounding: 0 is put in its place.
inline constexpr double log_rounding = 1e-12;

[[nodiscard]] moments moments_of_logs(std::span<const double> differences) noexcept;

// Half the width of the two-sided interval of the mean at level 1 - alpha, from two values on.
[[nodiscard]] double t_half_width(const moments& of, double alpha);

// Two-sided, that the mean is 0; from two values on. Without scatter 0, or 1 where the mean is 0.
[[nodiscard]] double t_probability(const moments& of);

// The mean difference, in standard errors, that the two-sided test at `alpha` shows on its own side
// with the given probability (noncentral t); from two values on.
[[nodiscard]] double detectable_noncentrality(std::size_t count, double alpha, double power);

// The upper limit (one-sided) of the deviation behind a sample's (chi-square), from two values on.
// Browne, On the use of a pilot sample for sample size determination (1995), plans with 80 or 90 %.
[[nodiscard]] double deviation_limit(const moments& of, double level);

}  // namespace postal::stats
