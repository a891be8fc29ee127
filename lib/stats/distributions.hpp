// SPDX-License-Identifier: GPL-3.0-or-later
// The distributions that intervals and tests are made of, each of them compiled in one place.
//
// Nothing throws: a series that does not converge, or a value out of range, gives what was reached,
// and what has no meaning (no degree of freedom) is no number.
#pragma once

namespace postal::stats {

// Student's t: what so much of it is above, and how much of it is above that.
[[nodiscard]] double t_limit(double freedom, double outside);
[[nodiscard]] double t_outside(double freedom, double limit);
[[nodiscard]] double noncentral_t_outside(double freedom, double noncentrality, double limit);

// Chi squared: what so much of it is above, and what so much of it is below.
[[nodiscard]] double chi_squared_limit(double freedom, double outside);
[[nodiscard]] double chi_squared_below(double freedom, double share);

// Clopper and Pearson's bounds of a share, each with so much outside.
[[nodiscard]] double lowest_share(double trials, double successes, double outside);
[[nodiscard]] double highest_share(double trials, double successes, double outside);

}  // namespace postal::stats
