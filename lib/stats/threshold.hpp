// A condition that a run must meet, such as "p99(message)<1s", and its evaluation.
//
// EXPRESSION is METRIC OPERATOR BOUND, blanks between them allowed; operators < <= > >= == !=.
//   p50(PHASE) p99.9(PHASE) (any percentile), mean(PHASE), min(PHASE), max(PHASE)     a duration
//   rate                                                        a rate; a bare number is per minute
//   the name of a counter (see counters.hpp)     a count, of octets such as "10M", or for what is a
//                                              failure also a share of the started with "%"
// All of it is measured after the warm-up. p999(PHASE) and p9999(PHASE) mean 99.9 and 99.99.
//
// parse() refuses what it does not know before the run starts, with the list of what it knows. A
// latency without one value, and a counter that means nothing in the run (corrupt where nobody
// verifies), have no value and do not pass.
#pragma once

#include "base/result.hpp"
#include "stats/counters.hpp"
#include "stats/threshold_result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

class run_report;
struct threshold_parser;

class threshold {
  public:
    // phases: the program's, in the order of tally::latency.
    [[nodiscard]] static base::expected<threshold> parse(std::string_view expression,
                                                         const std::vector<std::string>& phases,
                                                         counter_rows counters = all_counters());

    [[nodiscard]] threshold_result evaluate(const run_report& report) const;

    enum class metric { quantile, mean, min, max, rate, count, share };
    enum class comparison { less, less_equal, greater, greater_equal, equal, not_equal };

  private:
    friend struct threshold_parser;

    std::string expression_;
    metric metric_ = metric::count;
    comparison comparison_ = comparison::less;
    std::size_t phase_ = 0;  // for the latencies
    double quantile_ = 0;    // 0..1
    counter counter_;        // for count and share
    double bound_ = 0;       // in the outcome's unit
};

// All of them, in order; parses each and stops at the first that cannot be read.
[[nodiscard]] base::expected<std::vector<threshold>> parse_thresholds(
    const std::vector<std::string>& expressions, const std::vector<std::string>& phases);

// Evaluates all into report.thresholds; true when all passed.
bool check_thresholds(const std::vector<threshold>& thresholds, run_report& report);

}  // namespace postal::stats
