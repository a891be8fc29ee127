// The statistics of the rate: messages per minute, interval by interval.
//
// The interval of confidence is that of the mean of n independent values, Student's t with n - 1
// degrees of freedom. Intervals of one run are not quite independent: it says how steady the run
// was, not what another run would give (docs/method.md).
#include "stats/run_report.hpp"

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

}  // namespace

rate_summary run_report::rate() const {
    const std::vector<double> rates = interval_rates(rows_);
    rate_summary result;
    result.intervals = rates.size();
    if (rates.empty()) {
        result.mean = per_minute(measured_messages_, measured_s_);
        result.min = result.mean;
        result.max = result.mean;
        return result;
    }
    const auto n = static_cast<double>(rates.size());
    double sum = 0;
    for (const double value : rates)
        sum += value;
    result.mean = sum / n;
    result.min = *std::min_element(rates.begin(), rates.end());
    result.max = *std::max_element(rates.begin(), rates.end());
    if (rates.size() < 2) return result;

    double squares = 0;
    for (const double value : rates)
        squares += (value - result.mean) * (value - result.mean);
    const double stddev = std::sqrt(squares / (n - 1));
    const boost::math::students_t distribution(n - 1);
    const double t = boost::math::quantile(boost::math::complement(distribution, 0.025));
    const double half = t * stddev / std::sqrt(n);
    result.stddev = stddev;
    result.ci95 = {result.mean - half, result.mean + half};
    return result;
}

}  // namespace postal::stats
