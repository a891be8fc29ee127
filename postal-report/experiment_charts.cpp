// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/experiment_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "experiment/findings.hpp"
#include "experiment/run_values.hpp"
#include "postal-report/chart_data.hpp"

namespace postal::report {

namespace {

using experiment::costs;
using experiment::device_costs;
using experiment::measured_run;
using value = std::optional<double>;

constexpr std::size_t points_a_variant = 300;
constexpr std::size_t most_run_lines = 24;

template <value costs::*Amount>
value processors(const costs& spent, const measured_run&) {
    return spent.*Amount ? value(*(spent.*Amount) / spent.window_s) : std::nullopt;
}

template <value device_costs::*Amount>
value a_second(const costs& spent, const measured_run& of) {
    const value sum = experiment::sum_of(spent, of.run.devices, Amount);
    return sum ? value(*sum / spent.window_s) : std::nullopt;
}

// Of the busiest one, in percent.
value busy(const costs& spent, const measured_run& of) {
    value most;
    for (const std::string& name : of.run.devices) {
        const value one = experiment::sum_of(spent, {name}, &device_costs::busy);
        if (one) most = std::max(most.value_or(0), *one * 100);
    }
    return most;
}

struct measured_quantity : quantity {
    value (*get)(const costs& spent, const measured_run& of);
};

constexpr std::array<measured_quantity, 6> quantities{{
    {{"user", "Processors: user", "Processors that were busy with programs, on the whole machine"},
     processors<&costs::user_s>},
    {{"system", "Processors: system", "Processors that were busy in the kernel"},
     processors<&costs::system_s>},
    {{"iowait", "Processors: waiting for disks",
      "Processors that were idle while a request to a disk was under way"},
     processors<&costs::iowait_s>},
    {{"writes", "Storage: writes a second", "Requests to write that the storage completed"},
     a_second<&device_costs::writes>},
    {{"flushes", "Storage: flushes a second",
      "Requests to make everything written durable that the storage completed"},
     a_second<&device_costs::flushes>},
    {{"busy", "Storage: busy", "Share of the time in which a request was under way"}, busy},
}};

std::string numbers_of(const std::vector<value>& all) {
    std::vector<std::string> list;
    for (const value& one : all)
        list.push_back(drawn_number(one));
    return list_of(list);
}

std::string text(std::string_view of) {
    return script_string(base::printable(of, 80));
}

struct mean {
    double sum = 0;
    std::size_t count = 0;
    void add(const value& one) {
        if (!one) return;
        sum += *one;
        ++count;
    }
    [[nodiscard]] value result() const {
        return count > 0 ? value(sum / static_cast<double>(count)) : std::nullopt;
    }
};

// A point of a variant's course.
struct moment {
    point of;
    mean rate;
    std::array<mean, quantities.size()> costs;
};

struct course {
    std::vector<moment> moments;
    std::vector<std::vector<value>> runs;  // messages a minute
    std::optional<phase> latency;
};

std::chrono::nanoseconds from_seconds(double seconds) {
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

void add_costs(moment& to, const measured_run& run, const point& at) {
    if (!run.log || !run.load_from_s || at.covered.end_s <= at.covered.start_s) return;
    const auto spent = run.log->between(from_seconds(*run.load_from_s + at.covered.start_s),
                                        from_seconds(*run.load_from_s + at.covered.end_s));
    if (!spent) return;
    for (std::size_t i = 0; i < quantities.size(); ++i)
        to.costs[i].add(quantities[i].get(*spent, run));
}

void add_latency(std::optional<phase>& to, const stats::run_record& of) {
    const phase* one = of.main_phase();
    if (one == nullptr || !one->distribution) return;
    if (!to) {
        to = *one;
    } else {
        to->distribution->merge(*one->distribution);
        to->not_accepted += one->not_accepted;
    }
}

void add_run(course& to, const measured_run& run, std::size_t program, std::size_t together) {
    const stats::run_record& record = run.records[program];
    add_latency(to.latency, record);
    auto points = points_of(record.intervals, together);
    // A piece of an interval has a rate that says little beside whole ones.
    if (points.size() > 1 && points.back().covered.partial) points.pop_back();
    std::vector<value>& rates = to.runs.emplace_back();
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i == to.moments.size()) to.moments.push_back({points[i], {}, {}});
        rates.push_back(points[i].per_minute());
        to.moments[i].rate.add(rates.back());
        add_costs(to.moments[i], run, points[i]);
    }
}

// The first variant, and of the others those whose ratio is farthest from 1.
std::vector<std::size_t> drawn_of(const experiment::results& of,
                                  const experiment::analysis& found) {
    std::vector<std::size_t> all(of.record.variants.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (all.size() <= most_drawn) return all;
    std::vector<double> distance(all.size(), 0);
    distance.front() = HUGE_VAL;
    for (const stats::comparison& one : found.verdict().compared.comparisons)
        if (one.ratio) distance[one.variant] = std::abs(std::log(*one.ratio));
    std::stable_sort(all.begin(), all.end(), [&](std::size_t one, std::size_t other) {
        return distance[one] > distance[other];
    });
    all.resize(most_drawn);
    std::sort(all.begin(), all.end());
    return all;
}

std::string course_json(const course& of, const std::string& name, bool with_runs,
                        std::array<bool, quantities.size()>& any) {
    std::vector<std::string> times;
    std::vector<value> rates;
    std::array<std::vector<value>, quantities.size()> columns;
    for (const moment& one : of.moments) {
        const interval& at = one.of.covered;
        times.push_back(object_of({{"start", drawn_number(at.start_s)},
                                   {"end", drawn_number(at.end_s)},
                                   {"together", std::to_string(one.of.together)},
                                   {"warmup", fmt::to_string(at.warmup)}}));
        rates.push_back(one.rate.result());
        for (std::size_t i = 0; i < columns.size(); ++i) {
            columns[i].push_back(one.costs[i].result());
            any[i] = any[i] || columns[i].back();
        }
    }
    json_members made{{"label", text(name)},
                      {"times", list_of(times)},
                      {"rate", numbers_of(rates)},
                      {"tail", tail_points(of.latency ? &*of.latency : nullptr)}};
    for (std::size_t i = 0; i < columns.size(); ++i)
        made.emplace_back(quantities[i].key, numbers_of(columns[i]));
    std::vector<std::string> runs;
    if (with_runs)
        for (const auto& one : of.runs)
            runs.push_back(numbers_of(one));
    made.emplace_back("runs", list_of(runs));
    return object_of(made);
}

// One comparison: the ratio in each block, the mean and its interval.
std::string ratio_json(const experiment::results& of, const experiment::analysis& found,
                       const stats::comparison& one, bool is_same) {
    std::string label = of.record.variants[one.variant].name;
    if (is_same)
        label +=
            " (A/A" + (one.baseline == 0 ? "" : ": " + of.record.variants[one.baseline].name) + ")";
    std::vector<std::string> blocks;
    const auto& table = found.verdict().table;
    for (std::size_t i = 0; i < table.blocks.size(); ++i) {
        const auto& values = table.blocks[i].values;
        const value& mine = values[one.variant];
        const value& other = values[one.baseline];
        if (!mine || !other || !(*mine > 0) || !(*other > 0)) continue;
        if (std::isinf(*mine) || std::isinf(*other)) continue;  // the table says never
        blocks.push_back(object_of({{"block", std::to_string(found.blocks[i].number)},
                                    {"ratio", drawn_number(*mine / *other)},
                                    {"voided", fmt::to_string(table.blocks[i].voided)}}));
    }
    return object_of(
        {{"label", text(label)},
         {"variant", std::to_string(one.variant)},
         {"verdict", text(experiment::name_of(one.verdict))},
         {"blocks", list_of(blocks)},
         {"mean", drawn_number(one.ratio)},
         {"interval",
          one.interval ? numbers_of({(*one.interval)[0], (*one.interval)[1]}) : "null"}});
}

// Of those that are times: by size, in microseconds.
std::vector<std::string> growths_json(const experiment::analysis& found) {
    std::vector<std::string> lines;
    for (const experiment::growth_result& one : found.growths) {
        if (!one.is_time) continue;
        std::vector<std::array<double, 2>> points;
        for (std::size_t i = 0; i < std::min(one.typical.size(), found.sizes.size()); ++i)
            if (one.typical[i] && *one.typical[i] > 0 && found.sizes[i])
                points.push_back({*found.sizes[i], *one.typical[i]});
        std::sort(points.begin(), points.end());
        std::vector<std::string> drawn;
        for (const auto& each : points)
            drawn.push_back(numbers_of({each[0], each[1]}));
        lines.push_back(
            object_of({{"label", text(fmt::format("{} n^{:.2f}", one.what, one.found.exponent))},
                       {"points", list_of(drawn)}}));
    }
    return lines;
}

}  // namespace

experiment_charts charts_of(const experiment::results& of, const experiment::analysis& found) {
    const experiment::metric_result& verdict = found.verdict();
    experiment_charts to;
    to.drawn = drawn_of(of, found);
    std::vector<course> courses(of.record.variants.size());
    std::vector<const measured_run*> runs;
    std::size_t longest = 0;
    for (const measured_run& one : of.runs) {
        const std::size_t variant = one.run.at.variant;
        const bool is_drawn = std::binary_search(to.drawn.begin(), to.drawn.end(), variant);
        if (!is_drawn || !is_counted(one, found) || one.records.size() <= verdict.program) continue;
        runs.push_back(&one);
        longest = std::max(longest, one.records[verdict.program].intervals.size());
    }
    to.together = std::max<std::size_t>(1, (longest + points_a_variant - 1) / points_a_variant);
    for (const measured_run* one : runs)
        add_run(courses[one->run.at.variant], *one, verdict.program, to.together);
    to.runs = runs.size() > to.drawn.size() && runs.size() <= most_run_lines;

    std::vector<std::string> variants;
    std::array<bool, quantities.size()> any{};
    double longest_s = 0;
    for (const std::size_t one : to.drawn) {
        const course& mine = courses[one];
        to.rates = to.rates || !mine.moments.empty();
        to.latencies = to.latencies || (mine.latency && !mine.latency->distribution->empty());
        if (!mine.moments.empty())
            longest_s = std::max(longest_s, mine.moments.back().of.covered.end_s);
        variants.push_back(course_json(mine, of.record.variants[one].name, to.runs, any));
    }
    for (std::size_t i = 0; i < quantities.size(); ++i)
        if (any[i]) to.costs.push_back(&quantities[i]);
    std::vector<std::string> ratios;
    for (const stats::comparison& one : verdict.compared.comparisons)
        ratios.push_back(ratio_json(of, found, one, false));
    if (verdict.compared.same)
        ratios.push_back(ratio_json(of, found, *verdict.compared.same, true));
    to.compared = ratios.size();
    const std::vector<std::string> growths = growths_json(found);
    to.growths = growths.size();
    const bool higher = verdict.table.direction == stats::metric_direction::higher_is_better;
    to.data = object_of({{"longest_s", drawn_number(longest_s)},
                         {"warmup_s", drawn_number(of.record.warmup_s)},
                         {"margin", drawn_number(of.record.verdict.margin)},
                         {"metric", text(title_of(verdict.about))},
                         {"baseline", text(of.record.variants.front().name)},
                         {"higher", fmt::to_string(higher)},
                         {"variants", list_of(variants)},
                         {"ratios", list_of(ratios)},
                         {"size", text(of.record.verdict.size)},
                         {"growths", list_of(growths)}});
    return to;
}

}  // namespace postal::report
