// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of an experiment, but that of its costs.
#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/figures.hpp"
#include "experiment/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::experiment {
namespace {

using stats::comparison;

std::string probability(const std::optional<double>& value) {
    if (!value) return unknown;
    return *value < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", *value);
}

std::string detectable(const comparison& one) {
    const bool known = one.smallest_detectable && one.blocks >= stats::fewest_blocks;
    return known ? how_much(*one.smallest_detectable) : unknown;
}

std::vector<std::string> comparison_row(const results& of, const metric_result& metric,
                                        const comparison& one) {
    std::string flipped = unknown;
    if (one.flipped)
        flipped = probability(one.flipped->probability) + (one.flipped->exact ? "" : "~");
    std::string verdict(name_of(one.verdict));
    if (one.few) verdict += ", few";
    // The pair itself shows what voids the others.
    if (metric.compared.voided && &one != &*metric.compared.same) verdict = "void";
    return {of.record.variants[one.variant].name,
            show_value(metric.about, metric.typical[one.variant]),
            show_ratio(one),
            metric.table.carries_verdict ? (verdict.empty() ? unknown : verdict) : "exploratory",
            std::to_string(one.blocks),
            std::to_string(one.voided),
            one.blocks >= stats::fewest_blocks ? probability(one.probability) : unknown,
            flipped,
            detectable(one)};
}

std::string share_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value * 100) : unknown;
}

}  // namespace

report::table metric_table(const results& of, const analysis&, const metric_result& one) {
    const bool is_of_program = of.record.programs.size() > 1 && !is_of_run(one.about);
    const std::string program = is_of_program ? of.record.programs[one.program] + ": " : "";
    // Unique on a page, also with several programs.
    const std::string name = fmt::format(
        "{}{}", name_of(one.about), one.program > 0 ? fmt::format("-{}", one.program + 1) : "");
    report::table made{name,
                       program + title_of(one.about),
                       report::numbers({"", "typical", "against the first", "verdict", "blocks",
                                        "voided", "p (t)", "p (signs)", "shows from"}),
                       {}};
    made.columns[0].side = report::align::left;
    made.columns[2].side = report::align::left;
    made.columns[3].side = report::align::left;
    const std::string baseline = of.record.variants.front().name;
    made.rows.push_back({baseline, show_value(one.about, one.typical.front()), "baseline", unknown,
                         unknown, unknown, unknown, unknown, unknown});
    for (const comparison& each : one.compared.comparisons)
        made.rows.push_back(comparison_row(of, one, each));
    if (one.compared.same) {
        auto row = comparison_row(of, one, *one.compared.same);
        row[0] += " (A/A)";
        made.rows.push_back(std::move(row));
    }
    if (!one.compared.comparisons.empty()) {
        const std::size_t count = one.compared.comparisons.size();
        made.note = fmt::format(
            "intervals at {:.4g} %{}; shows from: a difference of which so many blocks show 4 in 5 "
            "or "
            "more, and none within the margin",
            one.compared.comparisons.front().level * 100,
            count > 1 ? fmt::format(" for each of {} comparisons", count) : "");
    }
    return made;
}

report::table verdict_table(const results& of, const analysis& found) {
    report::table made = metric_table(of, found, found.verdict());
    made.name = "verdict";
    return made;
}

report::table gate_table(const results& of, const analysis& found) {
    report::table made{"gates",
                       "Gates",
                       {{"gate"},
                        {"variant"},
                        {"answer"},
                        {"change", report::align::right},
                        {"at least", report::align::right},
                        {"at most", report::align::right},
                        {"blocks", report::align::right},
                        {"sees", report::align::right}},
                       {}};
    const auto change = [](const std::optional<double>& ratio) {
        return ratio ? percent(*ratio) : unknown;
    };
    for (const gate_finding& one : found.gates) {
        const stats::gate_result& result = one.result;
        const auto limit = [&](std::size_t side) {
            return result.limits ? percent((*result.limits)[side]) : std::string(unknown);
        };
        const std::string answer(name_of(result.verdict));
        made.rows.push_back({one.text, of.record.variants[one.variant].name,
                             answer.empty() ? unknown : answer, change(result.ratio), limit(0),
                             limit(1), std::to_string(result.blocks), change(result.shown_from)});
    }
    made.note =
        "each limit by itself holds as surely as all gates share the confidence; sees: a change "
        "that so many "
        "blocks miss the gate by in 4 of 5 experiments or more";
    return made;
}

report::table block_table(const results& of, const analysis& found) {
    report::table made{"blocks", "Blocks: " + title_of(found.verdict().about), {{"block"}}, {}};
    for (const recorded_variant& one : of.record.variants)
        made.columns.push_back({one.name, report::align::right});
    made.columns.push_back({""});
    for (std::size_t i = 0; i < found.blocks.size(); ++i) {
        std::vector<std::string> row{std::to_string(found.blocks[i].number)};
        for (const auto& value : found.verdict().table.blocks[i].values)
            row.push_back(show_value(found.verdict().about, value));
        row.push_back(found.blocks[i].voided.empty() ? "" : "voided: " + found.blocks[i].voided);
        made.rows.push_back(std::move(row));
    }
    return made;
}

report::table run_table(const results& of) {
    report::table made{
        "runs",
        "Runs, in their order",
        report::numbers({"block", "variant", "started", "state", "flush", "caches", "mounted"}),
        {}};
    for (std::size_t i = 1; i < made.columns.size(); ++i)
        made.columns[i].side = report::align::left;
    for (const recorded_run& one : of.record.runs) {
        std::string state(name_of(one.end));
        if (!one.reason.empty()) state += ": " + one.reason;
        made.rows.push_back(
            {std::to_string(one.at.block), of.record.variants[one.at.variant].name, one.started,
             state,
             one.flush_median_s ? fmt::format("{:.3g} ms", *one.flush_median_s * 1e3) : unknown,
             one.caches.empty() ? unknown : one.caches,
             one.mounted.empty() ? unknown : one.mounted});
    }
    return made;
}

report::table variant_table(const results& of) {
    report::table made{
        "variants", "Variants, and in what they differ", {{"name"}, {"variables"}}, {}};
    const auto& all = of.record.variants;
    const auto differs = [&](std::size_t index) {
        return std::any_of(all.begin(), all.end(), [&](const recorded_variant& one) {
            return one.values.size() <= index || one.values[index] != all.front().values[index];
        });
    };
    for (const recorded_variant& one : all) {
        std::vector<std::string> values;
        if (one.same_as) values.push_back("the same as " + in_quotes(all[*one.same_as].name));
        for (std::size_t i = 0; i < one.values.size() && i < all.front().values.size(); ++i)
            if (!one.same_as && differs(i))
                values.push_back(one.values[i].first + "=" + one.values[i].second);
        made.rows.push_back({one.name, base::join(values, ", ")});
    }
    return made;
}

report::table setting_table(const results& of) {
    const experiment_record& record = of.record;
    report::table made{"settings", "How to repeat it", {{""}, {""}}, {}};
    const auto add = [&](std::string name, std::string value) {
        if (!value.empty()) made.rows.push_back({std::move(name), std::move(value)});
    };
    add("experiment", record.file);
    add("command", repeated_command(record.argv, record.seed));
    add("seed", std::to_string(record.seed));
    add("blocks planned", std::to_string(record.blocks));
    if (record.until_width) add("wanted width", share_text(record.until_width));
    add("margin", fmt::format("{:g} %", record.verdict.margin * 100));
    add("confidence",
        fmt::format("{:g} %, of all comparisons together", record.verdict.confidence * 100));
    add("host", fmt::format("{}, {}, {} processors, {}", record.host.name, record.host.kernel,
                            record.host.cpus, base::format_size(record.host.memory_bytes)));
    for (const auto& [name, value] : record.versions)
        add(name, value);
    add("started", record.started);
    add("ended", record.ended.empty() ? "not yet" : record.ended + ", " + record.end);
    return made;
}

report::table growth_table(const results& of, const analysis& found) {
    report::table made{
        "growth", "Growth with " + base::printable(of.record.verdict.size, 40), {}, {}};
    if (found.growths.empty()) return made;
    made.note =
        "figure = a n^exponent: straight lines through logarithms in each block, their mean slope, "
        "and its "
        "interval by Student's t over blocks; then geometric means, of times in microseconds";
    made.columns = {{"figure"},
                    {"exponent", report::align::right},
                    {"interval", report::align::right},
                    {"blocks", report::align::right}};
    for (std::size_t i = 0; i < of.record.variants.size(); ++i)
        made.columns.push_back({of.record.variants[i].name, report::align::right});
    for (const growth_result& one : found.growths) {
        std::vector<std::string> row{one.what, fmt::format("{:.3f}", one.found.exponent),
                                     one.found.interval
                                         ? fmt::format("{:.3f} to {:.3f}", (*one.found.interval)[0],
                                                       (*one.found.interval)[1])
                                         : unknown,
                                     std::to_string(one.found.blocks)};
        for (const auto& value : one.typical)
            row.push_back(value ? fmt::format("{:.4g}", *value) : unknown);
        made.rows.push_back(std::move(row));
    }
    return made;
}

std::vector<report::table> tables(const results& of, const analysis& found) {
    std::vector<report::table> all{verdict_table(of, found), cost_table(of, found)};
    for (std::size_t i = 1; i < found.metrics.size(); ++i)
        all.push_back(metric_table(of, found, found.metrics[i]));
    all.push_back(growth_table(of, found));
    all.push_back(gate_table(of, found));
    all.push_back(block_table(of, found));
    all.push_back(variant_table(of));
    all.push_back(run_table(of));
    all.push_back(setting_table(of));
    std::erase_if(all, [](const report::table& one) { return one.rows.empty(); });
    return all;
}

}  // namespace postal::experiment
