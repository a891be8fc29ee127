// Parsing and evaluating thresholds.
//
// Flow: cut() splits at the operator, then one of three readers takes metric and bound: a latency
// (it has a phase in parentheses), the rate, or a row of the table of counters. evaluate() reads
// the value from the report's totals in the same unit as the bound and compares the two as doubles,
// exact for every count below 2^53. Fails only in parsing, with the expression in front.
#include "stats/threshold.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "stats/run_report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace postal::stats {
namespace {

struct counter {
    std::string_view name;
    std::uint64_t (*value)(const tally&);
    bool share_of_started;
};

constexpr std::array<counter, 10> counters{{
    {"errors", [](const tally& t) { return t.errors.total(); }, true},
    {"rejected", [](const tally& t) { return t.rejected; }, true},
    {"deferred", [](const tally& t) { return t.deferred; }, true},
    {"failed", [](const tally& t) { return t.failed; }, true},
    {"in_doubt", [](const tally& t) { return t.in_doubt; }, true},
    {"started", [](const tally& t) { return t.started; }, false},
    {"messages", [](const tally& t) { return t.messages; }, false},
    {"recipients", [](const tally& t) { return t.recipients; }, false},
    {"connections", [](const tally& t) { return t.connections; }, false},
    {"bytes", [](const tally& t) { return t.bytes; }, false},
}};

struct operation {
    std::string_view text;
    threshold::comparison comparison;
};

// The longer of two that begin alike stands first.
constexpr std::array<operation, 6> operations{{{"<=", threshold::comparison::less_equal},
                                               {">=", threshold::comparison::greater_equal},
                                               {"==", threshold::comparison::equal},
                                               {"!=", threshold::comparison::not_equal},
                                               {"<", threshold::comparison::less},
                                               {">", threshold::comparison::greater}}};

std::string known_metrics() {
    std::string text = "pNN(PHASE), mean(PHASE), min(PHASE), max(PHASE), rate";
    for (const auto& row : counters)
        text.append(", ").append(row.name);
    return text;
}

// "50" 0.5, "99.9" 0.999, "999" 0.999, "100" 1.
std::optional<double> percentile(std::string_view digits) {
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

bool holds(threshold::comparison comparison, double value, double bound) {
    switch (comparison) {
        case threshold::comparison::less:
            return value < bound;
        case threshold::comparison::less_equal:
            return value <= bound;
        case threshold::comparison::greater:
            return value > bound;
        case threshold::comparison::greater_equal:
            return value >= bound;
        case threshold::comparison::equal:
            return value == bound;
        case threshold::comparison::not_equal:
            return value != bound;
    }
    return false;
}

// An expression cut at its operator.
struct parts {
    std::string_view metric;
    threshold::comparison comparison = threshold::comparison::less;
    std::string_view bound;
};

base::expected<parts> cut(std::string_view expression) {
    const std::size_t at = expression.find_first_of("<>=!");
    const std::string_view rest =
        at == std::string_view::npos ? std::string_view{} : expression.substr(at);
    for (const auto& row : operations) {
        if (!rest.starts_with(row.text)) continue;
        return parts{base::trim(expression.substr(0, at)), row.comparison,
                     base::trim(rest.substr(row.text.size()))};
    }
    return base::fail(
        "there is no operator in it; give one such as p99(message)<1s, with < <= > >= "
        "== or !=");
}

base::failure unknown_metric(std::string_view name) {
    return base::fail("there is no metric '{}'; known are {}", base::printable(name, 40),
                      known_metrics());
}

}  // namespace

// Reads the three kinds of metrics; each fills its own fields of a threshold.
struct threshold_parser {
    threshold result;

    base::expected<void> latency(const parts& cut, const std::vector<std::string>& phases) {
        const std::size_t open = cut.metric.find('(');
        const std::string_view name = base::trim(cut.metric.substr(0, open));
        if (cut.metric.back() != ')') return base::fail("')' is missing behind the phase");
        const std::string_view phase =
            base::trim(cut.metric.substr(open + 1, cut.metric.size() - open - 2));
        if (name == "mean") {
            result.metric_ = threshold::metric::mean;
        } else if (name == "min") {
            result.metric_ = threshold::metric::min;
        } else if (name == "max") {
            result.metric_ = threshold::metric::max;
        } else {
            const auto q = name.starts_with('p') ? percentile(name.substr(1)) : std::nullopt;
            if (!q) return unknown_metric(name);
            result.metric_ = threshold::metric::quantile;
            result.quantile_ = *q;
        }
        const auto found = std::find(phases.begin(), phases.end(), phase);
        if (found == phases.end()) {
            return base::fail("there is no phase '{}'; known are {}", base::printable(phase, 40),
                              base::join(phases, ", "));
        }
        result.phase_ = static_cast<std::size_t>(found - phases.begin());
        const auto bound = base::parse_duration(cut.bound);
        if (!bound) return bound.error();
        result.bound_ = static_cast<double>(bound->count()) / 1e3;
        return {};
    }

    base::expected<void> rate(const parts& cut) {
        const auto bound = base::parse_rate(cut.bound, base::rate_unit::per_minute);
        if (!bound) return bound.error();
        result.metric_ = threshold::metric::rate;
        result.bound_ = bound->per_minute();
        return {};
    }

    base::expected<void> count(const parts& cut) {
        std::size_t row = 0;
        while (row < counters.size() && counters[row].name != cut.metric)
            ++row;
        if (row == counters.size()) return unknown_metric(cut.metric);
        result.counter_ = row;
        if (cut.bound.ends_with('%')) {
            if (!counters[row].share_of_started) {
                return base::fail("'{}' is a count, not a share; leave the % away", cut.metric);
            }
            const auto bound =
                base::parse_number(base::trim(cut.bound.substr(0, cut.bound.size() - 1)));
            if (!bound) return bound.error();
            result.metric_ = threshold::metric::share;
            result.bound_ = *bound;
            return {};
        }
        const auto bound =
            cut.metric == "bytes" ? base::parse_size(cut.bound) : base::parse_count(cut.bound);
        if (!bound) return bound.error();
        result.metric_ = threshold::metric::count;
        result.bound_ = static_cast<double>(*bound);
        return {};
    }
};

base::expected<threshold> threshold::parse(std::string_view expression,
                                           const std::vector<std::string>& phases) {
    const std::string_view text = base::trim(expression);
    const std::string where = base::printable(text, 80);
    const auto cut_text = cut(text);
    if (!cut_text) return base::at(where, cut_text.error());
    threshold_parser parser;
    parser.result.expression_ = std::string(text);
    parser.result.comparison_ = cut_text->comparison;
    const bool has_phase = cut_text->metric.find('(') != std::string_view::npos;
    const auto done = has_phase                    ? parser.latency(*cut_text, phases)
                      : cut_text->metric == "rate" ? parser.rate(*cut_text)
                                                   : parser.count(*cut_text);
    if (!done) return base::at(where, done.error());
    return parser.result;
}

threshold_outcome threshold::evaluate(const run_report& report) const {
    const tally& totals = report.totals();
    threshold_outcome outcome;
    outcome.expression = expression_;
    const auto latency_us = [&](auto read) -> std::optional<double> {
        if (phase_ >= totals.latency.size() || totals.latency[phase_].empty()) return std::nullopt;
        return read(totals.latency[phase_]);
    };
    const auto us = [](std::chrono::nanoseconds t) { return static_cast<double>(t.count()) / 1e3; };
    outcome.unit = "us";
    switch (metric_) {
        case metric::quantile:
            outcome.value = latency_us([&](const auto& h) { return us(h.quantile(quantile_)); });
            break;
        case metric::mean:
            outcome.value = latency_us([](const auto& h) { return h.mean_us(); });
            break;
        case metric::min:
            outcome.value = latency_us([&](const auto& h) { return us(h.min()); });
            break;
        case metric::max:
            outcome.value = latency_us([&](const auto& h) { return us(h.max()); });
            break;
        case metric::rate:
            outcome.unit = "messages/min";
            outcome.value = report.rate().mean;
            break;
        case metric::count:
            outcome.unit = "";
            outcome.value = static_cast<double>(counters[counter_].value(totals));
            break;
        case metric::share: {
            outcome.unit = "%";
            const auto part = static_cast<double>(counters[counter_].value(totals));
            const auto whole = static_cast<double>(totals.started);
            // Errors without a single message begun, such as a refused connection, are all there
            // was.
            outcome.value = whole > 0 ? part * 100 / whole : part > 0 ? 100.0 : 0.0;
            break;
        }
    }
    outcome.passed = outcome.value.has_value() && holds(comparison_, *outcome.value, bound_);
    return outcome;
}

base::expected<std::vector<threshold>> parse_thresholds(const std::vector<std::string>& expressions,
                                                        const std::vector<std::string>& phases) {
    std::vector<threshold> parsed;
    for (const auto& expression : expressions) {
        const auto one = threshold::parse(expression, phases);
        if (!one) return one.error();
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
