// SPDX-License-Identifier: GPL-3.0-or-later
// The statistics of a rate, and the run's own: messages per minute, interval by interval.
//
// Neighbouring stretches of a run are alike, so n of them say less than n independent ones would:
// with a correlation r of each with the next, about as much as n (1 - r) / (1 + r). The r of a
// short series is too low: by (1 + 4r)/n where the mean is taken out (Marriott and Pope 1954), by
// (2 + 4r)/n where a line is. That is made up for, and half of its standard error added, since too
// low an r harms more than one that is too high. The interval of confidence is Student's t with
// that number; it is of this run's own level, not of what another run would give (docs/method.md).
// tests/truth/rate_truth.cpp holds what is promised of it.
#include "stats/rate.hpp"

#include "base/digits.hpp"
#include "stats/distributions.hpp"
#include "stats/moments.hpp"
#include "stats/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

double per_minute(std::uint64_t messages, double seconds) {
    return seconds > 0 ? static_cast<double>(messages) * 60 / seconds : 0;
}

struct interval_rates {
    std::vector<double> values;  // messages per minute of every interval that counts
    double resolution = 0;       // one message
};

interval_rates rates_of(const std::vector<interval_row>& rows) {
    interval_rates rates;
    for (const auto& row : rows) {
        if (row.warmup || row.partial || !(row.length_s() > 0)) continue;
        rates.values.push_back(per_minute(row.messages, row.length_s()));
        rates.resolution = std::max(rates.resolution, per_minute(1, row.length_s()));
    }
    return rates;
}

constexpr std::size_t most_compared = 2000;  // each with each

// The means of neighbours; an odd last one is left out.
std::vector<double> pairs_of(std::span<const double> values) {
    std::vector<double> pairs;
    for (std::size_t i = 1; i < values.size(); i += 2)
        pairs.push_back((values[i - 1] + values[i]) / 2);
    return pairs;
}

// Mann and Kendall's test at 1 %, with the effective number of what lies around the fitted line;
// the trend's size is that line's.
std::optional<double> trend_of(std::span<const double> values) {
    if (values.size() < fewest_values) return std::nullopt;
    if (values.size() > most_compared) return trend_of(pairs_of(values));
    const double mean = moments_of(values).mean;
    if (!(mean > 0)) return std::nullopt;
    const auto n = static_cast<double>(values.size());
    const auto from_middle = [&](std::size_t i) { return static_cast<double>(i) - (n - 1) / 2; };
    double rises = 0, slope = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        slope += from_middle(i) * values[i] * 12 / (n * (n * n - 1));
        for (std::size_t j = 0; j < i; ++j)
            rises += values[i] > values[j] ? 1 : values[i] < values[j] ? -1 : 0;
    }
    std::vector<double> level(values.begin(), values.end());
    for (std::size_t i = 0; i < level.size(); ++i)
        level[i] -= slope * from_middle(i);
    const double effective = effective_number(level, fitted::line);
    const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * n / effective);
    constexpr double one_percent = 0.01;
    if (std::abs(rises) <= t_limit(effective - 2, one_percent / 2) * deviation) return std::nullopt;
    return slope * (n - 1) / mean;
}

}  // namespace

double effective_number(std::span<const double> values, fitted what) {
    const moments of = moments_of(values);
    const auto n = static_cast<double>(values.size());
    if (values.size() < fewest_values) return n;
    double products = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
        products += (values[i - 1] - of.mean) * (values[i] - of.mean);
    const double rounding = n * std::pow(1e-9 * of.mean, 2);
    if (of.squares <= rounding) return n;
    const double missing = what == fitted::mean ? 1 : 2;
    double r = (n * products / of.squares + missing) / (n - 4);
    r += std::sqrt(std::max(0.05, 1 - r * r) / n) / 2;
    r = std::clamp(r, 0.0, 0.999);
    return std::max(what == fitted::mean ? 2.5 : 3.5, n * (1 - r) / (1 + r));
}

level level_of(std::span<const double> values) {
    const moments of = moments_of(values);
    level made{of.mean, effective_number(values, fitted::mean), of.deviation()};
    if (made.effective > 1)
        made.deviation *=
            std::sqrt((1 - 1 / static_cast<double>(values.size())) / (1 - 1 / made.effective));
    return made;
}

rate_summary summarise_rates(std::span<const double> values, double resolution) {
    rate_summary result;
    result.mean = result.min = result.max = result.effective = 0;
    result.count = values.size();
    if (values.empty()) return result;
    const level around = level_of(values);
    result.mean = around.mean;
    result.min = *std::min_element(values.begin(), values.end());
    result.max = *std::max_element(values.begin(), values.end());
    result.effective = around.effective;
    if (values.size() < 2) return result;

    result.stddev = moments_of(values).deviation();
    result.trend = trend_of(values);
    if (values.size() < fewest_values) return result;
    // What was counted was rounded: an even spread over one step.
    const double deviation = std::max(around.deviation, resolution / std::sqrt(12));
    const double half =
        t_limit(around.effective - 1, 0.05 / 2) * deviation / std::sqrt(around.effective);
    result.ci95 = {std::max(0.0, around.mean - half), around.mean + half};
    return result;
}

std::string confidence_text(double low, double high) {
    if (low <= 0) return fmt::format("(0 to {})", base::format_measured(high));
    return "± " + base::format_measured((high - low) / 2);
}

std::string trend_text(double mean, double trend, std::string_view unit) {
    const auto at = [&](double from_middle) {
        return base::format_measured(std::max(0.0, mean * (1 + from_middle * trend)));
    };
    return fmt::format("{} from {}{} to {}{}", trend > 0 ? "rose" : "fell", at(-0.5), unit, at(0.5),
                       unit);
}

rate_summary run_report::rate() const {
    const interval_rates rates = rates_of(rows_);
    rate_summary result = summarise_rates(rates.values, rates.resolution);
    if (result.count == 0)
        result.mean = result.min = result.max = per_minute(measured_.messages, measured_s_);
    return result;
}

}  // namespace postal::stats
