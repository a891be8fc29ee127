// SPDX-License-Identifier: GPL-3.0-or-later
// The level, the spread and the trend of a rate, from its values in stretches of time that follow
// each other. What is said of the level holds within the run: another run of the same setting may
// have another.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace postal::stats {

struct rate_summary {
    std::optional<double> mean;
    std::optional<double> min;
    std::optional<double> max;
    std::optional<double> stddev;               // of the values, n - 1; from two on
    std::optional<std::array<double, 2>> ci95;  // of the mean, Student's t; from `fewest_values` on
    std::uint64_t count = 0;                    // of the values; 0: nothing else is known
    // As many independent values would say as much of the mean, at the least.
    std::optional<double> effective;
    // Change from the first to the last by a straight line, as a share of the mean; where it is no
    // chance.
    std::optional<double> trend;
};

// Below it how alike neighbours are is not known well enough for an interval or a trend.
inline constexpr std::size_t fewest_values = 20;

// What is taken out of values before it is estimated how alike neighbours are.
enum class fitted : std::uint8_t { mean, line };

// As many independent values would say as much of the mean, or of the line, at the least; all of
// them below `fewest_values`.
double effective_number(std::span<const double> values, fitted what);

// What values say of the level that they scatter around.
struct level {
    double mean = 0;
    double effective = 0;  // of the values, see above
    // Around the level; within a run values are nearer to their own mean than to the level behind
    // it.
    double deviation = 0;
};
level level_of(std::span<const double> values);

// `resolution`: what one message more makes of a value. No interval is narrower than that allows.
rate_summary summarise_rates(std::span<const double> values, double resolution = 0);

// "± 2.1", which stands behind the mean; "(0 to 8.2)" where nothing is as likely as that, as with a
// few bursts in a long silence.
std::string confidence_text(double low, double high);

// "fell from 58,000/s to 33,800/s": the ends of the line, which no rate is below 0 at.
std::string trend_text(double mean, double trend, std::string_view unit);

}  // namespace postal::stats
