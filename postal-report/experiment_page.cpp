// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "experiment/findings.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/experiment.hpp"
#include "postal-report/experiment_charts.hpp"
#include "postal-report/run.hpp"

namespace postal::report {

namespace {

using experiment::analysis;
using experiment::metric;
using experiment::results;

// More lines need more room.
constexpr std::size_t many_lines = 4;
constexpr double room_rem = 26;
constexpr double panel_rem = 20;

// What each variant came to, and at which price; the statistics stand in the tables below.
table summary_table(const results& of, const analysis& found,
                    const std::optional<shown_audit>& audited) {
    const experiment::metric_result& verdict = found.verdict();
    table made{"summary",
               "Verdicts: " + experiment::title_of(verdict.about),
               {{""},
                {"typical", align::right},
                {"against " + of.record.variants[0].name, align::right},
                {"verdict"}},
               {}};
    std::vector<const experiment::metric_result*> costs;
    for (const experiment::metric_result& one : found.metrics) {
        if (&one == &verdict || one.program != verdict.program || one.about == metric::p50)
            continue;
        costs.push_back(&one);
        made.columns.push_back({experiment::title_of(one.about), align::right});
    }
    if (audited) made.columns.push_back({audit::lost_by_power_cut_title});
    for (std::size_t variant = 0; variant < of.record.variants.size(); ++variant) {
        std::vector<std::string> row{of.record.variants[variant].name,
                                     show_value(verdict.about, verdict.typical[variant]),
                                     variant == 0 ? "baseline" : "–", ""};
        for (const stats::comparison& one : verdict.compared.comparisons) {
            if (one.variant != variant) continue;
            row[2] = experiment::show_ratio(one);
            row[3] =
                std::string(experiment::name_of(one.verdict)) + (one.few ? ", few blocks" : "");
        }
        const auto& same = verdict.compared.same;
        if (same && same->variant == variant && same->baseline == 0)
            row[2] = experiment::show_ratio(*same);
        if (same && same->variant == variant) {
            row[3] += (row[3].empty() ? "" : "; ") + std::string("A/A: ") +
                      (verdict.compared.voided                            ? "told apart"
                       : same->verdict == stats::comparison_verdict::none ? "no verdict"
                                                                          : "not told apart");
        }
        for (const experiment::metric_result* one : costs)
            row.push_back(show_value(one->about, one->typical[variant]));
        if (audited)
            row.push_back(audit::lost_by_power_cut(of.record.variants[variant].name,
                                                   audited->record, audited->found));
        made.rows.push_back(std::move(row));
    }
    if (!verdict.compared.comparisons.empty())
        made.note = fmt::format(
            "typical: the geometric mean over the blocks; in brackets the interval at {:.4g} %; "
            "less than {:g} % is no difference",
            verdict.compared.comparisons.front().level * 100, of.record.verdict.margin * 100);
    return made;
}

void add_charts(document& to, const results& of, const analysis& found,
                const experiment_charts& charts) {
    const std::size_t variants = of.record.variants.size();
    const std::string which =
        charts.drawn.size() < variants
            ? fmt::format(" Drawn are {} of {} variants: the first, and those that differ most.",
                          charts.drawn.size(), variants)
            : "";
    const std::string points =
        charts.together > 1 ? fmt::format("up to {} intervals", charts.together) : "one interval";
    const double height_rem = charts.drawn.size() > many_lines ? room_rem : 0;
    if (charts.compared > 0) {
        const double level = found.verdict().compared.comparisons.empty()
                                 ? found.verdict().compared.same->level
                                 : found.verdict().compared.comparisons.front().level;
        to.add(chart{
            "chart-ratios",
            fmt::format("{} against {}", experiment::title_of(found.verdict().about),
                        of.record.variants[0].name),
            fmt::format(
                "Each circle is one block, the first one on top; a cross is a voided block, which "
                "does not count. Below them the mean and its interval at {:.4g} %; one without an "
                "end goes on beyond the chart. Within the band a difference does not matter.",
                level * 100),
            9.0 + 2.6 * static_cast<double>(charts.compared)});
    }
    if (charts.growths > 0) {
        to.add(
            chart{"chart-growth", "Latency by " + base::printable(of.record.verdict.size, 40),
                  "Both axes are logarithmic, so that what grows as a power is a straight line; "
                  "each point "
                  "is the geometric mean over the blocks that count, and the exponent that of the "
                  "sentences above.",
                  room_rem});
    }
    if (charts.rates) {
        to.add(chart{"chart-rate", "Messages a minute over time",
                     "Mean over the runs of a variant" +
                         std::string(charts.runs ? "; thin: each run. " : ". ") +
                         "Each point stands for " + points + "." + which,
                     height_rem});
    }
    if (charts.latencies) {
        to.add(chart{
            "chart-distribution", "Latency by percentile",
            "What share of the messages after the warm-up took no longer than that, of all runs "
            "of a variant together; each step to the right is a tail ten times as thin." +
                which,
            height_rem});
    }
    for (const quantity* one : charts.costs) {
        to.add(chart{"chart-" + std::string(one->key), one->title,
                     one->caption +
                         std::string("; mean over the runs of a variant, each "
                                     "point stands for ") +
                         points + "." + which,
                     charts.drawn.size() > many_lines ? panel_rem : 0});
    }
}

}  // namespace

document document_of(const results& of, const analysis& found,
                     const std::optional<shown_audit>& audited, medium wanted) {
    document made = document_of(of, found, wanted);
    if (wanted == medium::page) {
        const experiment_charts charts = charts_of(of, found);
        made.page = {.title = made.title,
                     .subtitle = {describe(of, found)},
                     .kind = "experiment",
                     .footnote = footnote_of_runs,
                     .chart_data = charts.data,
                     .script = experiment_script};
        made.add(placed_table{summary_table(of, found, audited), place::headline});
        add_charts(made, of, found, charts);
    }
    if (audited) {
        document cuts = document_of(*audited, wanted);
        cuts.title = "Power cuts";
        made.append(std::move(cuts));
    }
    made.add(folded_text{"The experiment: " + of.record.file, of.record.text});
    return made;
}

}  // namespace postal::report
