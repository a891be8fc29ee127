#include "postal-report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/sections.hpp"
#include "postal-report/words.hpp"
#include "report/table.hpp"

namespace postal::report {

namespace {

constexpr std::size_t colours = 8;  // as many as the style sheet has

std::string tile(std::string_view name, const std::string& value, std::string_view kind = "") {
    return fmt::format("<div class=\"tile {}\"><dt>{}</dt><dd>{}</dd></div>\n", kind, name,
                       escape_html(value));
}

constexpr std::uint64_t enough = 10;  // intervals for a spread, and seconds for one in their place

std::string by_second_line(const message_rate& rate, double width_s) {
    const std::string stretches =
        width_s > 1 ? fmt::format("stretches of {} s", width_s) : "whole seconds";
    std::string line =
        fmt::format("{} {} from {}/s to {}/s", rate.count, stretches,
                    show_rate(rate, &message_rate::min), show_rate(rate, &message_rate::max));
    if (rate.ci95)
        line += fmt::format("; mean {}/s {}/s at 95 %, within this run",
                            show_rate(rate, &message_rate::mean), show_confidence(rate));
    return line;
}

std::string confidence_line(const record& one) {
    const message_rate& rate = one.rate;
    if (!rate.mean) return "the record has no rate";
    if (rate.count < enough && one.rate_by_second.count >= enough)
        return by_second_line(one.rate_by_second, one.seconds.width_s);
    if (rate.count == 0) return "over the time measured, without one whole interval";
    std::string line =
        fmt::format("{} whole intervals from {} to {}", rate.count,
                    show_rate(rate, &message_rate::min), show_rate(rate, &message_rate::max));
    if (rate.ci95) line += fmt::format("; mean {} at 95 %, within this run", show_confidence(rate));
    return line;
}

std::string_view kind_title(const record& one, const counter& kind) {
    return kind.name == "messages" ? counted_word(one) : kind.title;
}

// One bar, cut into what became of the messages; the words and numbers stand under it.
std::string outcome_bar(const record& one) {
    const auto kinds = counters_of(one.counters, counter_kind::outcome);
    const double sum = ended(one);
    if (!(sum > 0)) return {};
    std::string bar = "<div class=\"bar\" aria-hidden=\"true\">";
    std::string legend = "<ul class=\"legend\">";
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const std::uint64_t count = one.totals.*kinds[kind].value;
        const auto part = static_cast<double>(count);
        if (count > 0) {
            bar += fmt::format("<span class=\"o{}\" style=\"flex-grow:{:.6f}\"></span>", kind,
                               part / sum);
        }
        if (!is_counted(one, kinds[kind])) continue;
        legend += fmt::format(
            "<li class=\"{}\"><i class=\"o{}\"></i>{} <b>{}</b> <small>{}</small></li>",
            count > 0 ? "" : "none", kind, kind_title(one, kinds[kind]), base::format_count(count),
            count > 0 ? escape_html(show_share(part, sum)) : "");
    }
    return bar + "</div>\n" + legend + "</ul>\n";
}

// What a program of another purpose than sending is asked for first.
std::string program_tiles(const record& one) {
    std::string out;
    if (one.program == "rabid") out += tile("deleted", base::format_count(one.totals.deleted));
    if (one.agents) out += tile("agents", base::format_count(one.agents->started));
    return out;
}

std::string one_headline(const record& one) {
    std::string out = "<section class=\"card hero\" id=\"headline\">\n<div class=\"rate\">";
    out += fmt::format(
        "<p class=\"big\">{} <span>messages/min</span></p>\n<p class=\"note\">{}</p></div>\n",
        escape_html(show_rate(one.rate, &message_rate::mean)), escape_html(confidence_line(one)));
    out += "<dl class=\"tiles\">\n";
    out += tile("latency p50", show_latency(one.main_phase(), &phase::p50));
    out += tile("latency p99", show_latency(one.main_phase(), &phase::p99));
    out += tile(counted_word(one), base::format_count(one.totals.messages));
    out += tile("errors", base::format_count(one.totals.error_events),
                one.totals.error_events > 0 ? "bad" : "");
    out += tile("data", show_per_second(one, &stats::counts::bytes));
    if (one.under_load && one.under_load->per_second)
        out += tile("under load", show_number(*one.under_load->per_second * 60) + " /min");
    out += program_tiles(one);
    out += "</dl>\n" + outcome_bar(one) + "</section>\n";
    return out;
}

std::string lane(const record& one, const record& reference, double highest) {
    const double mean = one.rate.mean.value_or(0);
    const std::string change =
        &one == &reference ? "" : show_change(one.rate.mean, reference.rate.mean);
    std::string out = fmt::format(
        "<div class=\"lane\"><p class=\"name\">{}</p><p class=\"value\"><b>{}</b> /min "
        "<small>{}</small></p>\n",
        escape_html(one.label), escape_html(show_rate(one.rate, &message_rate::mean)),
        escape_html(change));
    out += fmt::format("<div class=\"track\"><span style=\"width:{:.2f}%\"></span></div>\n",
                       highest > 0 ? mean / highest * 100 : 0.0);
    out += fmt::format(
        "<p class=\"detail\">p50 <b>{}</b> · p99 <b>{}</b> · {} <b>{}</b> · errors <b>{}</b>"
        "{}</p></div>\n",
        escape_html(show_latency(one.main_phase(), &phase::p50)),
        escape_html(show_latency(one.main_phase(), &phase::p99)), counted_word(one),
        base::format_count(one.totals.messages), base::format_count(one.totals.error_events),
        one.generator.limited ? " · <strong>generator-limited</strong>"
        : one.generator.verdict == generator_verdict::machine_full
            ? " · <strong>machine full</strong>"
        : one.generator.verdict == generator_verdict::held_back ? " · <strong>held back</strong>"
                                                                : "");
    return out;
}

}  // namespace

std::string headline_html(const std::vector<record>& records) {
    if (records.size() == 1) return one_headline(records.front());
    double highest = 0;
    for (const record& one : records)
        highest = std::max(highest, one.rate.mean.value_or(0));
    std::string out = fmt::format(
        "<section class=\"card lanes\" id=\"headline\">\n<h2>Messages {} a minute</h2>\n",
        counted_word(records));
    for (std::size_t at = 0; at < records.size(); ++at) {
        out += fmt::format("<div class=\"s{}\">{}</div>\n", at % colours,
                           lane(records[at], records.front(), highest));
    }
    return out + "</section>\n";
}

std::string remarks_html(const std::vector<record>& records) {
    std::string out;
    for (const remark& each : all_remarks(records)) {
        out += fmt::format("<p class=\"remark {}\" role=\"note\">{}.</p>\n", each.kind,
                           escape_html(each.text));
    }
    return out.empty() ? out : "<div class=\"remarks\">\n" + out + "</div>\n";
}

}  // namespace postal::report
