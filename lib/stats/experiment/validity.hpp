// SPDX-License-Identifier: GPL-3.0-or-later
// Whether the runs of an experiment were what its comparisons take them for: at a level that does
// not wander, and measured behind the warm-up.
//
// Both are said to the reader and void nothing. A drift over the experiment meets all variants
// alike, since their order is random; a warm-up that is too short may not. Nothing here fails.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace postal::stats {

// One run of an experiment, by the order in which they were run.
struct run_in_order {
    std::size_t number = 0;  // of the run in the experiment; runs that are left out keep theirs
    std::size_t block = 0;
    std::size_t variant = 0;
    double value = 0;  // positive
};

// How far all variants together went up or down from the first run to the last: ln(value) and the
// run's number, each taken around its mean of the variant; their means in each block; and the line
// through these by least squares. Blocks may be at levels of their own, but the interval takes them
// for independent; where each is like the one before it is too narrow.
struct drift {
    double change = 0;                 // as a share, over the whole experiment
    std::array<double, 2> interval{};  // of it, Student's t at 95 %, blocks - 2 degrees of freedom
    // The interval leaves out 0.
    [[nodiscard]] bool shown() const noexcept { return interval[0] > 0 || interval[1] < 0; }
};

// Empty below three blocks, or where no variant is in two of them. Values that are not positive or
// not finite are left out.
[[nodiscard]] std::optional<drift> drift_of(std::span<const run_in_order> runs);

// Where a series has settled, by MSER-5 (White 1997; in batches of five: White, Cobb and Spratt
// 2000): in its first half the point from which on the standard error of the mean is smallest. On a
// series that is level from its start it is often not 0, which costs values and does not change the
// mean.
struct truncation {
    std::size_t intervals = 0;  // before it, a multiple of 5
    // It is not the last one of the first half. There it is where a series climbs or falls for most
    // of its length, which is then too short to say.
    bool settled = true;
};

// Empty below ten batches (50 intervals).
[[nodiscard]] std::optional<truncation> mser_5(std::span<const double> rates);

// Of the rates of a run, interval by interval from its start on; steadier on their means over all
// runs of a variant (Welch 1983).
struct warmup_check {
    truncation settles;
    double change = 0;  // of the mean behind the warm-up, if it began where the series settles
    // It settles behind the warm-up, and the change exceeds the tolerance and its own error: what
    // is left out differs from the rest by more than Student's t at 1 % allows for intervals that
    // are so alike. Since the place is chosen for its differing, level series come to up to 3 %
    // (tests/truth/warmup_truth.cpp).
    bool too_short = false;
};

// `warmup`: intervals that are left out; `tolerance` is a share, such as half the margin. Empty
// where mser_5() is, or where nothing or no rate is left behind the warm-up.
[[nodiscard]] std::optional<warmup_check> check_warmup(std::span<const double> rates,
                                                       std::size_t warmup, double tolerance);

}  // namespace postal::stats
