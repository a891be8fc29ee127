#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/findings.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/experiment.hpp"
#include "postal-report/experiment_charts.hpp"
#include "report/table.hpp"

namespace postal::report {

namespace {

using experiment::analysis;
using experiment::metric;
using experiment::results;

constexpr std::size_t most_sentences = 10;
constexpr std::size_t most_large_sentences = 3;
constexpr std::size_t most_open_rows = 30;
// More lines need more room.
constexpr std::size_t many_lines = 4;
constexpr double room_rem = 26;
constexpr double panel_rem = 20;

// What was found, in large type. Verdicts that do not count stand behind the reason.
std::string sentences_html(const results& of, const analysis& found) {
    const bool counts = !found.verdict().compared.voided;
    const auto sentences = verdict_sentences(of, found);
    std::string out = fmt::format("<section class=\"card verdicts{}{}\" id=\"verdicts\">\n",
                                  counts ? "" : " voided",
                                  sentences.size() > most_large_sentences ? " several" : "");
    std::string rest;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        std::string& to = i < most_sentences ? out : rest;
        to += fmt::format("<p class=\"{}\">{}.</p>\n", i < most_sentences ? "say" : "further",
                          escape_html(sentences[i]));
    }
    if (!rest.empty())
        out += fmt::format("<details><summary>{} more</summary>\n{}</details>\n",
                           sentences.size() - most_sentences, rest);
    return out + "</section>\n";
}

std::string remarks_html(const results& of, const analysis& found) {
    std::string out;
    // The first one says so when no verdict counts.
    bool loud = found.verdict().compared.voided;
    for (const experiment::remark& one : remarks(of, found)) {
        out += fmt::format("<p class=\"remark {}{}\" role=\"note\">{}.</p>\n", one.kind,
                           std::exchange(loud, false) ? " loud" : "", escape_html(one.text));
    }
    return out.empty() ? out : "<div class=\"remarks\">\n" + out + "</div>\n";
}

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
    if (audited) made.columns.push_back({experiment::lost_by_power_cut_title});
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
            row.push_back(experiment::lost_by_power_cut(of.record.variants[variant].name,
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

std::string charts_html(const results& of, const analysis& found, const experiment_charts& charts) {
    std::string out;
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
        out += figure_html(
            {"chart-ratios",
             escape_html(fmt::format("{} against {}", experiment::title_of(found.verdict().about),
                                     of.record.variants[0].name)),
             escape_html(fmt::format(
                 "Each circle is one block, the first one on top; a cross is a voided block, which "
                 "does not count. Below them the mean and its interval at {:.4g} %; one without an "
                 "end goes on beyond the chart. Within the band a difference does not matter.",
                 level * 100)),
             9.0 + 2.6 * static_cast<double>(charts.compared)});
    }
    if (charts.rates) {
        out += figure_html({"chart-rate", "Messages a minute over time",
                            "Mean over the runs of a variant" +
                                std::string(charts.runs ? "; thin: each run. " : ". ") +
                                "Each point stands for " + points + "." + which,
                            height_rem});
    }
    if (charts.latencies) {
        out += figure_html(
            {"chart-distribution", "Latency by percentile",
             "What share of the messages after the warm-up took no longer than that, of all runs "
             "of a variant together; each step to the right is a tail ten times as thin." +
                 which,
             height_rem});
    }
    for (const quantity* one : charts.costs) {
        out += figure_html({"chart-" + std::string(one->key), one->title,
                            one->caption +
                                std::string("; mean over the runs of a variant, each "
                                            "point stands for ") +
                                points + "." + which,
                            charts.drawn.size() > many_lines ? panel_rem : 0});
    }
    return out;
}

// Line by line, each one harmless.
std::string text_html(const experiment::experiment_record& record) {
    std::string lines;
    for (const std::string_view line : base::split(record.text, '\n'))
        lines += escape_html(line) + "\n";
    return folded("The experiment: " + record.file, "<pre>" + lines + "</pre>\n");
}

std::string tables_html(const results& of, const analysis& found) {
    std::string out;
    for (const table& each : tables(of, found)) {
        if (each.rows.size() > most_open_rows)
            out += folded(fmt::format("{} ({})", each.title, each.rows.size()), render_html(each));
        else
            out += render_html(each);
    }
    return out + text_html(of.record);
}

}  // namespace

std::string render_page(const results& of, const analysis& found,
                        const std::optional<shown_audit>& audited, const page_parts& parts) {
    const experiment_charts charts = charts_of(of, found);
    const std::string title = of.record.title.empty() ? of.record.file : of.record.title;
    const std::string sentences = sentences_html(of, found);
    const std::string remarks = remarks_html(of, found);
    const bool counts = !found.verdict().compared.voided;
    return fill(page_frame,
                {{"TITLE", escape_html(title)},
                 {"SUBTITLE", escape_html(describe(of, found))},
                 {"VERSION", std::string{base::build_version}},
                 {"NONCE", std::string{parts.nonce}},
                 {"STYLE", std::string{page_style}},
                 {"REMARKS", (counts ? sentences + remarks : remarks + sentences) +
                                 (audited ? sentences_html(*audited) : "")},
                 {"HEADLINE", render_html(summary_table(of, found, audited))},
                 {"CHARTS", charts_html(of, found, charts)},
                 {"KIND", " experiment"},
                 {"TABLES", (audited ? tables_html(*audited) : "") + tables_html(of, found)},
                 {"FOOTNOTE", footnote_of_runs},
                 {"DATA", charts.data},
                 {"LIBRARY", std::string{parts.chart_library}},
                 {"SCRIPT", std::string{page_script} + std::string{experiment_script}}});
}

}  // namespace postal::report
