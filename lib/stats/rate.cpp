// The statistics of a rate, and the run's own: messages per minute, interval by interval.
//
// Neighbouring stretches of a run are alike, so n of them say less than n independent ones would:
// with a correlation r of each with the next, about as much as n (1 - r) / (1 + r). The interval of
// confidence is Student's t with that number; it is of this run's own level, not of what another run
// would give (docs/method.md). Below ten values r is not known well enough to say one.
#include "stats/rate.hpp"

#include "base/digits.hpp"
#include "stats/moments.hpp"
#include "stats/run_report.hpp"

#include <fmt/format.h>
#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>

namespace postal::stats {
namespace {

double per_minute(std::uint64_t messages, double seconds) {
    return seconds > 0 ? static_cast<double>(messages) * 60 / seconds : 0;
}

// Messages per minute of every interval that counts.
std::vector<double> interval_rates(const std::vector<interval_row>& rows) {
    std::vector<double> rates;
    for (const auto& row : rows) {
        if (row.warmup || row.partial || !(row.length_s() > 0)) continue;
        rates.push_back(per_minute(row.messages, row.length_s()));
    }
    return rates;
}

constexpr std::size_t enough_values = 10;
constexpr std::size_t most_compared = 2000;  // each with each

// As many independent values would say as much of the mean.
double effective_number(std::span<const double> values, const moments& of) {
    const auto n = static_cast<double>(values.size());
    double products = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
        products += (values[i - 1] - of.mean) * (values[i] - of.mean);
    const double rounding = n * std::pow(1e-9 * of.mean, 2);
    const double r = of.squares > rounding ? std::clamp(products / of.squares, 0.0, 1.0) : 0;
    return n * (1 - r) / (1 + r);
}

// The means of neighbours; an odd last one is left out.
std::vector<double> pairs_of(const std::vector<double>& values) {
    std::vector<double> pairs;
    for (std::size_t i = 1; i < values.size(); i += 2)
        pairs.push_back((values[i - 1] + values[i]) / 2);
    return pairs;
}

// Mann and Kendall's test at 1 %, with the effective number of what lies around the fitted line; the
// trend's size is that line's.
std::optional<double> trend_of(const std::vector<double>& values, const moments& of) {
    if (values.size() < enough_values || !(of.mean > 0)) return std::nullopt;
    if (values.size() > most_compared) return trend_of(pairs_of(values), of);
    const auto n = static_cast<double>(values.size());
    const auto from_middle = [&](std::size_t i) { return static_cast<double>(i) - (n - 1) / 2; };
    double rises = 0, slope = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        slope += from_middle(i) * values[i] * 12 / (n * (n * n - 1));
        for (std::size_t j = 0; j < i; ++j)
            rises += values[i] > values[j] ? 1 : values[i] < values[j] ? -1 : 0;
    }
    std::vector<double> around = values;
    for (std::size_t i = 0; i < around.size(); ++i)
        around[i] -= slope * from_middle(i);
    const double effective = std::max(1.0, effective_number(around, moments_of(around)));
    const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * n / effective);
    constexpr double one_percent = 2.576;
    if (std::abs(rises) <= one_percent * deviation) return std::nullopt;
    return slope * (n - 1) / of.mean;
}

}  // namespace

rate_summary summarise_rates(std::span<const double> values) {
    rate_summary result;
    result.count = values.size();
    if (values.empty()) return result;
    const moments of = moments_of(values);
    result.mean = of.mean;
    result.min = *std::min_element(values.begin(), values.end());
    result.max = *std::max_element(values.begin(), values.end());
    result.effective = effective_number(values, of);
    if (values.size() < 2) return result;

    const double stddev = of.deviation();
    result.stddev = stddev;
    result.trend = trend_of({values.begin(), values.end()}, of);
    if (values.size() < enough_values || result.effective < 2) return result;
    const boost::math::students_t distribution(result.effective - 1);
    const double t = boost::math::quantile(boost::math::complement(distribution, 0.025));
    const double half = t * stddev / std::sqrt(result.effective);
    result.ci95 = {std::max(0.0, result.mean - half), result.mean + half};
    return result;
}

std::string confidence_text(double low, double high) {
    if (low <= 0) return fmt::format("(0 to {})", base::format_measured(high));
    return "± " + base::format_measured((high - low) / 2);
}

rate_summary run_report::rate() const {
    rate_summary result = summarise_rates(interval_rates(rows_));
    if (result.count == 0)
        result.mean = result.min = result.max = per_minute(measured_.messages, measured_s_);
    return result;
}

}  // namespace postal::stats
