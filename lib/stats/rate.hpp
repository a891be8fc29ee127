// The level, the spread and the trend of a rate, from its values in stretches of time that follow each
// other. What is said of the level holds within the run: another run of the same setting may have
// another.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace postal::stats {

struct rate_summary {
    double mean = 0;
    double min = 0;
    double max = 0;
    std::optional<double> stddev;               // of the values, n - 1; from two on
    std::optional<std::array<double, 2>> ci95;  // of the mean, Student's t; from ten values on
    std::uint64_t count = 0;                    // of the values; 0: nothing else is known
    double effective = 0;  // as many independent values would say as much of the mean
    std::optional<double>
        trend;  // change from the first to the last, as a share, where it is no chance
};

rate_summary summarise_rates(std::span<const double> values);

// "± 2.1", which stands behind the mean; "(0 to 8.2)" where nothing is as likely as that, as with a
// few bursts in a long silence.
std::string confidence_text(double low, double high);

}  // namespace postal::stats
