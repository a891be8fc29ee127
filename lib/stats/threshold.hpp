// SPDX-License-Identifier: GPL-3.0-or-later
// A condition that a run must meet, such as "p99(message)<1s", and its evaluation.
//
// EXPRESSION is METRIC OPERATOR BOUND, blanks between them allowed; operators < <= > >= == !=.
//   p50(PHASE) p99.9(PHASE) (any percentile), mean(PHASE), min(PHASE), max(PHASE)     a duration
//   max(SAMPLE), mean(SAMPLE), last(SAMPLE)      a number: of what is sampled, sample_threshold.hpp
//   rate                                                        a rate; a bare number is per minute
//   limited                                                     1 if the generator was the limit,
//                                                               or 0
//   the name of a counter (see counters.hpp)     a count, of octets such as "10M", or for what is a
//                                              failure also a share of the started with "%" (in an
//                                              open loop of what was due)
// Behind it may stand ";abort" or ";abort=N": the run ends as soon as it is missed, judged on the
// whole run so far once there are N samples (100): messages begun, or values of a latency. A count
// needs none, and an upper bound: once above it, it stays so.
//
// All of it is measured after the warm-up. p999(PHASE) and p9999(PHASE) mean 99.9 and 99.99. In an
// open loop the message phase ranks all that was due; what was not accepted is above every bound.
//
// What is not known is refused before the run starts, with the list of what is; so is, of a given
// run, a counter that means nothing in it (corrupt where nobody verifies), and what is not sampled.
// A latency without one value has no value, and does not pass.
#pragma once

#include "base/result.hpp"
#include "stats/counters.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::stats {

struct run_description;
class run_report;

// What became of one threshold: a part of run_report and of the record.
struct threshold_result {
    std::string expression;       // as it was given
    std::optional<double> value;  // in `unit`; empty when nothing was measured, which never passes
    std::string unit;             // "us", "messages/min", "%", or empty for a count
    bool passed = false;
    bool reached = true;  // otherwise the value is a lower bound, and no bound lies above it
};

// What a threshold allows single messages, where it says that: a share of them may take that time,
// or end so.
struct allowance {
    double share = 0;                   // of all that was due: 0.01 with p99
    std::optional<std::size_t> phase;   // a latency: its index in tally::latency
    std::chrono::nanoseconds within{};  // what takes longer is late
    const counter* of = nullptr;        // or a failure that is counted
};

class threshold {
  public:
    // phases: the program's, in the order of tally::latency.
    [[nodiscard]] static base::expected<threshold> parse(std::string_view expression,
                                                         const std::vector<std::string>& phases,
                                                         counter_rows counters = all_counters());

    // An error if it is about a counter that means nothing in this run, or about what is not
    // sampled.
    [[nodiscard]] base::expected<void> check(const run_description& run) const;

    [[nodiscard]] threshold_result evaluate(const run_report& report) const;

    // With ";abort", while the run goes on: whether it is missed already.
    [[nodiscard]] bool missed_already(const run_report& report) const;
    [[nodiscard]] const std::string& expression() const noexcept { return expression_; }
    // Of an upper bound on a percentile, or on a failure's share; otherwise nothing.
    [[nodiscard]] const std::optional<allowance>& allows() const noexcept { return allows_; }
    // The name of what is sampled, where it is about that; otherwise empty.
    [[nodiscard]] const std::string& sampled() const noexcept { return sampled_; }
    [[nodiscard]] bool aborts() const noexcept { return abort_after_.has_value(); }

  private:
    friend struct threshold_parser;

    struct measured {
        double value = 0;
        bool reached = true;
    };

    std::string expression_;
    std::function<std::optional<measured>(const run_report&)> measure_;
    std::function<std::uint64_t(const run_report&)> samples_;
    const counter* counter_ = nullptr;          // what is measured, if it is one
    std::string sampled_;                       // the same
    std::optional<std::uint64_t> abort_after_;  // samples; nothing: at the end only
    std::string_view unit_;                     // of what is measured, and of the bound
    double bound_ = 0;
    std::optional<allowance> allows_;
    bool (*holds_)(double value, double bound) = nullptr;
};

// All of them, in order, for this run; stops at the first that cannot be read or means nothing.
[[nodiscard]] base::expected<std::vector<threshold>> parse_thresholds(
    const std::vector<std::string>& expressions, const run_description& run);

// Evaluates all into report.thresholds; true when all passed.
bool check_thresholds(const std::vector<threshold>& thresholds, run_report& report);

}  // namespace postal::stats
