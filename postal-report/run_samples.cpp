// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/compared_rows.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"
#include "postal-report/samples.hpp"
#include "postal-report/words.hpp"
#include "stats/sample_words.hpp"

namespace postal::report {

namespace {

using stats::sample_series;
using stats::sampled_source;

constexpr std::size_t most_sample_points = 600;
constexpr std::size_t most_lines = 8;
constexpr std::size_t longest_sample_name = 110;
constexpr double sample_low_rem = 11;

std::string value_text(std::optional<double> value) {
    return value ? stats::sample_text(*value) : unknown;
}

bool is_queue(const sampled_source& of) {
    return of.waiting() != nullptr;
}

// "samples-0" of a command, by its place among all that the records have; queues share a chart.
struct sample_chart {
    std::string id;
    std::string name;  // of the command; empty: queues
};

std::vector<sample_chart> charts_of(const std::vector<record>& records) {
    std::vector<sample_chart> made;
    std::size_t commands = 0;
    const auto known = [&](const std::string& name) {
        return std::any_of(made.begin(), made.end(),
                           [&](const auto& one) { return one.name == name; });
    };
    for (const record& one : records)
        for (const sampled_source& source : one.samples) {
            if (source.t_s.empty()) continue;
            const std::string name = is_queue(source) ? std::string{} : source.name;
            if (known(name)) continue;
            if (name.empty()) {
                made.insert(made.begin(), {"chart-queue", ""});
            } else if (commands < most_lines) {
                made.push_back({fmt::format("chart-samples-{}", commands++), name});
            }
        }
    return made;
}

bool belongs(const sampled_source& source, const sample_chart& to) {
    return is_queue(source) ? to.name.empty() : source.name == to.name && !to.name.empty();
}

// [[s, value], ...]: of neighbours that share a point the highest.
std::string points_of(const sampled_source& source, const sample_series& of) {
    const auto& shown = of.most && of.most->size() == of.values.size() ? *of.most : of.values;
    const std::size_t size = std::min(source.t_s.size(), shown.size());
    const std::size_t together =
        std::max<std::size_t>(1, (size + most_sample_points - 1) / most_sample_points);
    std::vector<std::string> points;
    for (std::size_t i = 0; i < size; i += together) {
        std::optional<double> highest;
        const std::size_t end = std::min(size, i + together);
        for (std::size_t at = i; at < end; ++at)
            highest = std::max(highest, shown[at]);
        points.push_back(
            fmt::format("[{},{}]", json_number(source.t_s[end - 1]), json_number(highest)));
    }
    return list_of(points);
}

std::string lines_of(const std::vector<record>& records, const sample_chart& chart) {
    std::vector<std::string> lines;
    for (const record& one : records) {
        for (const sampled_source& source : one.samples) {
            if (!belongs(source, chart)) continue;
            for (const sample_series& each : source.series) {
                // Of several runs the whole queue of each is compared.
                const bool part = is_queue(source) && !each.waiting;
                if (lines.size() == most_lines || (part && records.size() > 1)) continue;
                if (part && each.highest.value_or(0) == 0) continue;
                const std::string label =
                    (records.size() > 1 ? one.label + " " : std::string{}) + each.name;
                lines.push_back(object_of(
                    {{"label", script_string(base::printable(label, longest_sample_name))},
                     {"points", points_of(source, each)}}));
            }
        }
    }
    return list_of(lines);
}

void add_series(table& to, const sampled_source& source) {
    for (const sample_series& each : source.series) {
        const bool rose = each.highest.value_or(0) > 0 && each.highest_at_s;
        to.rows.push_back({each.name, value_text(each.last()), value_text(each.highest),
                           rose ? show_seconds(*each.highest_at_s) : unknown,
                           each.unit.empty() ? unknown : each.unit});
    }
}

std::string cost_note(const record& one) {
    std::vector<std::string> parts;
    for (const sampled_source& source : one.samples) {
        const std::uint64_t all = source.taken + source.missed;
        if (all == 0) continue;
        std::string text = fmt::format("{}: {}, {} each, at most {}", source.name,
                                       base::format_amount(all, "sample"),
                                       show_latency(source.took_s * 1e6 / static_cast<double>(all)),
                                       show_latency(source.longest_s * 1e6));
        if (source.missed > 0)
            text += fmt::format(", {} missed", base::format_count(source.missed));
        parts.push_back(std::move(text));
    }
    return base::join(parts, "; ");
}

}  // namespace

std::vector<std::string> sample_names(const std::vector<record>& records) {
    std::vector<std::string> names;
    for (const record& one : records)
        for (const sampled_source& source : one.samples)
            for (const sample_series& each : source.series)
                if (std::find(names.begin(), names.end(), each.name) == names.end())
                    names.push_back(each.name);
    return names;
}

const sample_series* find_sample(const record& one, std::string_view name) {
    for (const sampled_source& source : one.samples)
        for (const sample_series& each : source.series)
            if (each.name == name) return &each;
    return nullptr;
}

table sample_table(const std::vector<record>& records) {
    table made{"samples", "Sampled beside the run", {}, {}};
    if (records.size() == 1) {
        made.columns = numbers({"", "at the end", "at most", "after"});
        made.columns.front().side = align::left;
        made.columns.push_back({"unit"});
        for (const sampled_source& source : records.front().samples)
            add_series(made, source);
        made.note = cost_note(records.front());
        return made;
    }
    made.columns = record_columns(records);
    std::vector<compared_row> rows;
    for (const std::string& name : sample_names(records))
        rows.push_back({name + ", at most", [name](const record& one) {
                            const sample_series* found = find_sample(one, name);
                            if (found == nullptr) return std::string(unknown);
                            return fmt::format("{}, {} at the end", value_text(found->highest),
                                               value_text(found->last()));
                        }});
    add_rows(made, records, rows);
    return made;
}

std::vector<table> sample_courses(const record& one) {
    std::vector<table> made;
    for (const sampled_source& source : one.samples) {
        table shown{"", "Samples of " + source.name, numbers({"after"}), {}};
        // More are in records that we did not write.
        const std::size_t figures =
            std::min(source.series.size(), stats::sample_history::most_figures);
        for (std::size_t i = 0; i < figures; ++i)
            shown.columns.push_back({source.series[i].name, align::right});
        for (std::size_t at = 0; at < source.t_s.size(); ++at) {
            auto& row = shown.rows.emplace_back();
            row.push_back(show_seconds(source.t_s[at]));
            for (std::size_t i = 0; i < figures; ++i) {
                const auto& values = source.series[i].values;
                row.push_back(at < values.size() ? value_text(values[at]) : unknown);
            }
        }
        if (!shown.rows.empty()) made.push_back(std::move(shown));
    }
    return made;
}

std::vector<chart> sample_charts(const std::vector<record>& records) {
    std::vector<chart> made;
    std::uint64_t together = 1;
    for (const record& one : records)
        for (const sampled_source& source : one.samples)
            together = std::max(together, source.together);
    const std::string points = together > 1
                                   ? fmt::format("Each point is the highest of up to {} samples. ",
                                                 base::format_count(together))
                                   : "Each point is a sample. ";
    for (const sample_chart& each : charts_of(records)) {
        if (each.name.empty()) {
            made.push_back({each.id, "Messages that wait in the server's queue",
                            points + "The warm-up is among them, and the last one was taken after "
                                     "the run. What was always 0 is not drawn.",
                            sample_low_rem});
        } else {
            made.push_back({each.id, base::printable(each.name, longest_sample_name),
                            points + "As the command printed it.", sample_low_rem});
        }
    }
    return made;
}

std::string sample_series_data(const std::vector<record>& records) {
    std::vector<std::string> list;
    for (const sample_chart& each : charts_of(records))
        list.push_back(object_of({{"chart", script_string(each.id)},
                                  {"unit", script_string(each.name.empty() ? "messages" : "")},
                                  {"lines", lines_of(records, each)}}));
    return list_of(list);
}

double last_sample_s(const std::vector<record>& records) {
    double last_s = 0;
    for (const record& one : records)
        for (const sampled_source& source : one.samples)
            if (!source.t_s.empty()) last_s = std::max(last_s, source.t_s.back());
    return last_s;
}

std::vector<remark> sample_remarks(const record& one) {
    std::vector<remark> list;
    for (const sampled_source& source : one.samples) {
        std::string said = one.rate.mean
                               ? stats::waiting_sentence(
                                     source, stats::measured_text(one.rate, &message_rate::mean),
                                     counted_word(one))
                               : std::string{};
        if (!said.empty()) list.push_back({"note", std::move(said)});
        std::string grew =
            stats::growth_sentence(source, one.warmup_s, one.warmup_s + one.measured_s);
        if (!grew.empty()) list.push_back({"limit", std::move(grew)});
        std::string missed = stats::missed_text(source);
        if (!missed.empty())
            list.push_back(
                {"note",
                 fmt::format("{}: {}", base::printable(source.name, longest_sample_name), missed)});
    }
    return list;
}

}  // namespace postal::report
