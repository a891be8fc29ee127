// SPDX-License-Identifier: GPL-3.0-or-later
// Flow: cut() splits at the operator, then one of four readers takes metric and bound: a latency
// (it has a phase in parentheses), a sample (its name, and a bound without a unit), the rate, or a
// counter. Value and bound are in the same unit, and compared as doubles, exact for every count
// below 2^53.
#include "stats/threshold.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/run_report.hpp"
#include "stats/sample_threshold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace postal::stats {
namespace {

using comparison = bool (*)(double value, double bound);

struct operation {
    std::string_view text;
    comparison holds;
};

// The longer of two that begin alike stands first.
constexpr std::array<operation, 6> operations{{
    {"<=", [](double value, double bound) { return value <= bound; }},
    {">=", [](double value, double bound) { return value >= bound; }},
    {"==", [](double value, double bound) { return value == bound; }},
    {"!=", [](double value, double bound) { return value != bound; }},
    {"<", [](double value, double bound) { return value < bound; }},
    {">", [](double value, double bound) { return value > bound; }},
}};

std::string known_metrics(counter_rows counters) {
    std::string text =
        "pNN(PHASE), mean(PHASE), min(PHASE), max(PHASE), max(SAMPLE), mean(SAMPLE), last(SAMPLE), "
        "rate, "
        "limited";
    for (const counter& row : counters)
        text.append(", ").append(row.name);
    return text;
}

// "50" 0.5, "99.9" 0.999, "999" 0.999, "100" 1.
std::optional<double> read_percentile(std::string_view digits) {
    if (digits.size() > 8) return std::nullopt;
    std::string number(digits);
    const bool short_form = number.size() > 2 && number.find('.') == std::string::npos;
    if (short_form && number != "100") {
        // p999 is what people write for p99.9; p101 is nothing that anybody means.
        if (number.front() != '9') return std::nullopt;
        number.insert(2, 1, '.');
    }
    const auto value = base::parse_number(number);
    if (!value || *value <= 0 || *value > 100) return std::nullopt;
    return *value / 100;
}

// Errors without a single message begun, such as a refused connection, are all there was.
double percent_of(std::uint64_t whole, double part) {
    if (whole > 0) return part * 100 / static_cast<double>(whole);
    return part > 0 ? 100 : 0;
}

constexpr std::uint64_t default_samples = 100;

// The samples of ";abort" or ";abort=N".
base::expected<std::uint64_t> read_abort(std::string_view text) {
    constexpr std::string_view word = "abort";
    const std::string_view given = base::trim(text);
    const std::string_view rest = given.substr(std::min(word.size(), given.size()));
    if (given == word) return default_samples;
    if (!given.starts_with(word) || !base::trim(rest).starts_with('=')) {
        return base::fail("'{}' behind the semicolon; want abort, or abort=N for N samples",
                          base::printable(given, 40));
    }
    return base::parse_count(base::trim(base::trim(rest).substr(1)));
}

// An expression cut at its operator.
struct parts {
    std::string_view metric;
    comparison holds;
    std::string_view bound;
};

base::expected<parts> cut(std::string_view expression) {
    const std::size_t at = expression.find_first_of("<>=!");
    const std::string_view rest =
        at == std::string_view::npos ? std::string_view{} : expression.substr(at);
    for (const auto& row : operations) {
        if (!rest.starts_with(row.text)) continue;
        return parts{base::trim(expression.substr(0, at)), row.holds,
                     base::trim(rest.substr(row.text.size()))};
    }
    return base::fail(
        "there is no operator in it; give one such as errors<1%, with < <= > >= == or !=");
}

base::failure unknown_metric(std::string_view name, counter_rows counters) {
    const std::string shown = base::printable(name, 40);
    if (const counter* other = find_counter(all_counters(), name))
        return base::fail("'{}' is not counted here, only {}; known are {}", shown,
                          where_counted(other->by), known_metrics(counters));
    std::vector<std::string> names{"rate", "limited"};
    for (const counter& row : counters)
        names.emplace_back(row.name);
    if (const std::string_view near = base::nearest(name, names); !near.empty())
        return base::fail("there is no metric '{}'; did you mean {}?", shown, near);
    return base::fail("there is no metric '{}'; known are {}", shown, known_metrics(counters));
}

}  // namespace

// Reads the four kinds of metrics; each sets what a threshold measures, and its bound.
struct threshold_parser {
    counter_rows counters;
    threshold result{};
    bool counts = false;  // what is measured only grows

    base::expected<void> early(const parts& cut, std::string_view text) {
        const auto samples = read_abort(text);
        if (!samples) return samples.error();
        result.abort_after_ = *samples;
        if (cut.metric == "limited")
            return base::fail("what limited a run is known at its end; leave ;abort away");
        if (!result.sampled_.empty())
            return base::fail("what was sampled is judged at the end; leave ;abort away");
        if (!counts) return {};
        // At nothing yet it must hold, and not any more once it has ceased to.
        const bool falls =
            result.holds_(0, result.bound_) && !result.holds_(result.bound_ + 1, result.bound_);
        if (!falls)
            return base::fail(
                "a count that is yet to grow is judged at the end; leave ;abort away");
        result.abort_after_ = 0;
        return {};
    }

    // It holds for nothing, and not for anything large.
    [[nodiscard]] bool bounds_above() const { return result.holds_(0, 1) && !result.holds_(2, 1); }

    base::expected<void> of_something(const parts& cut, const std::vector<std::string>& phases) {
        const std::size_t open = cut.metric.find('(');
        const std::string_view name = base::trim(cut.metric.substr(0, open));
        if (cut.metric.back() != ')') return base::fail("')' is missing behind the phase");
        const std::string_view inside =
            base::trim(cut.metric.substr(open + 1, cut.metric.size() - open - 2));
        const bool is_phase = std::find(phases.begin(), phases.end(), inside) != phases.end();
        const auto statistic = sample_statistic_of(name);
        const auto bound = base::parse_number(cut.bound);
        const bool is_sample = !is_phase && !inside.empty() && (bound || name == "last");
        if (!is_sample) return latency(name, inside, cut.bound, phases);
        if (!statistic)
            return base::fail("of what is sampled there are max, mean and last, not '{}'",
                              base::printable(name, 40));
        if (!bound) return bound.error();
        result.bound_ = *bound;
        result.sampled_ = inside;
        result.measure_ = [what = *statistic, of = result.sampled_](
                              const run_report& report) -> std::optional<threshold::measured> {
            const auto value =
                measure(report.samples, of, what, base::seconds_of(report.description().warmup));
            if (!value) return std::nullopt;
            return threshold::measured{*value};
        };
        return {};
    }

    base::expected<void> latency(std::string_view name, std::string_view phase,
                                 std::string_view given_bound,
                                 const std::vector<std::string>& phases) {
        std::optional<double> q;  // 0 is the least, 1 the most
        if (name == "min" || name == "max") {
            q = name == "max" ? 1 : 0;
        } else if (name.starts_with('p')) {
            q = read_percentile(name.substr(1));
        }
        if (!q && name != "mean") return unknown_metric(name, counters);
        const auto found = std::find(phases.begin(), phases.end(), phase);
        if (found == phases.end()) {
            return base::fail("there is no phase '{}'; known are {}", base::printable(phase, 40),
                              base::join(phases, ", "));
        }
        const auto bound = base::parse_duration(given_bound);
        if (!bound) return bound.error();
        result.unit_ = "us";
        result.bound_ = static_cast<double>(bound->count()) / 1e3;
        if (q && name != "min" && bounds_above())
            result.allows_ = allowance{std::round((1 - *q) * 1e9) / 1e9,
                                       static_cast<std::size_t>(found - phases.begin()), *bound};
        result.measure_ = [q, index = static_cast<std::size_t>(found - phases.begin())](
                              const run_report& report) -> std::optional<threshold::measured> {
            if (index >= report.totals().latency.size()) return std::nullopt;
            const ranking values = report.latency(index);
            if (values.count() == 0) return std::nullopt;
            const percentile got = q ? values.quantile(*q) : values.mean();
            return {{static_cast<double>(got.value.count()) / 1e3, got.reached}};
        };
        result.samples_ = [index = static_cast<std::size_t>(found - phases.begin())](
                              const run_report& report) -> std::uint64_t {
            return index < report.totals().latency.size() ? report.latency(index).count() : 0;
        };
        return {};
    }

    base::expected<void> rate(const parts& cut) {
        const auto bound = base::parse_rate(cut.bound, base::rate_unit::per_minute);
        if (!bound) return bound.error();
        result.unit_ = "messages/min";
        result.bound_ = bound->per_minute();
        result.measure_ = [](const run_report& report) {
            return threshold::measured{report.rate().mean.value_or(0)};
        };
        result.samples_ = [](const run_report& report) { return report.totals().started; };
        return {};
    }

    base::expected<void> limited(const parts& cut) {
        const auto bound = base::parse_count(cut.bound);
        if (!bound) return bound.error();
        result.bound_ = static_cast<double>(*bound);
        result.measure_ = [](const run_report& report) {
            return threshold::measured{report.generator().limited ? 1.0 : 0.0};
        };
        return {};
    }

    base::expected<void> count(const parts& cut) {
        const counter* row = find_counter(counters, cut.metric);
        if (row == nullptr) return unknown_metric(cut.metric, counters);
        const bool share = cut.bound.ends_with('%');
        if (share && !row->failure) {
            return base::fail("'{}' is a count, not a share; leave the % away", cut.metric);
        }
        if (share) {
            const auto bound =
                base::parse_number(base::trim(cut.bound.substr(0, cut.bound.size() - 1)));
            if (!bound) return bound.error();
            result.unit_ = "%";
            result.bound_ = *bound;
            if (bounds_above()) result.allows_ = allowance{*bound / 100, {}, {}, row};
        } else {
            const auto bound = row->unit == counter_unit::octets ? base::parse_size(cut.bound)
                                                                 : base::parse_count(cut.bound);
            if (!bound) return bound.error();
            result.bound_ = static_cast<double>(*bound);
        }
        result.counter_ = row;
        result.measure_ = [share, of = *row](const run_report& report) {
            const auto number = static_cast<double>(report.totals().counted().*of.value);
            const tally& totals = report.totals();
            const stats::run_description& run = report.description();
            const bool of_due =
                run.open_loop() && (!run.reads_mail || of.kind == counter_kind::schedule);
            const std::uint64_t whole = of_due ? totals.due : totals.started;
            return threshold::measured{share ? percent_of(whole, number) : number};
        };
        counts = !share;
        // Errors may come without a single message begun.
        result.samples_ = [of = *row](const run_report& report) {
            const tally& totals = report.totals();
            return std::max(totals.started, totals.counted().*of.value);
        };
        return {};
    }
};

base::expected<threshold> threshold::parse(std::string_view expression,
                                           const std::vector<std::string>& phases,
                                           counter_rows counters) {
    const std::string_view text = base::trim(expression);
    const std::string where = base::printable(text, 80);
    const std::size_t semicolon = text.find(';');
    const auto cut_text = cut(text.substr(0, semicolon));
    if (!cut_text) return base::at(where, cut_text.error());
    threshold_parser parser{counters};
    parser.result.expression_ = std::string(text);
    parser.result.holds_ = cut_text->holds;
    const bool has_phase = cut_text->metric.find('(') != std::string_view::npos;
    const auto done = has_phase                       ? parser.of_something(*cut_text, phases)
                      : cut_text->metric == "rate"    ? parser.rate(*cut_text)
                      : cut_text->metric == "limited" ? parser.limited(*cut_text)
                                                      : parser.count(*cut_text);
    if (!done) return base::at(where, done.error());
    if (semicolon == std::string_view::npos) return parser.result;
    const auto early = parser.early(*cut_text, text.substr(semicolon + 1));
    if (!early) return base::at(where, early.error());
    return parser.result;
}

base::expected<void> threshold::check(const run_description& run) const {
    if (!sampled_.empty()) {
        const auto known = check_sampled(sampled_, run.sampled);
        if (!known) return base::at(base::printable(expression_, 80), known.error());
        return {};
    }
    if (counter_ == nullptr || run.has(*counter_)) return {};
    return base::fail("{}: '{}' is not counted in this run, only {}",
                      base::printable(expression_, 80), counter_->name,
                      where_counted(counter_->by));
}

bool threshold::missed_already(const run_report& report) const {
    if (!abort_after_) return false;
    const threshold_result now = evaluate(report);
    return now.value && !now.passed && samples_(report) >= *abort_after_;
}

threshold_result threshold::evaluate(const run_report& report) const {
    threshold_result result{expression_, std::nullopt, std::string(unit_)};
    if (const auto got = measure_(report)) {
        constexpr double never = std::numeric_limits<double>::infinity();
        result.value = got->value;
        result.reached = got->reached;
        result.passed = holds_(got->reached ? got->value : never, bound_);
    }
    return result;
}

base::expected<std::vector<threshold>> parse_thresholds(const std::vector<std::string>& expressions,
                                                        const run_description& run) {
    std::vector<threshold> parsed;
    for (const auto& expression : expressions) {
        const auto one = threshold::parse(expression, run.phases, run.counters);
        if (!one) return one.error();
        const auto means_something = one->check(run);
        if (!means_something) return means_something.error();
        parsed.push_back(*one);
    }
    return parsed;
}

bool check_thresholds(const std::vector<threshold>& thresholds, run_report& report) {
    bool all = true;
    report.thresholds.clear();
    for (const auto& one : thresholds) {
        report.thresholds.push_back(one.evaluate(report));
        all = all && report.thresholds.back().passed;
    }
    return all;
}

}  // namespace postal::stats
