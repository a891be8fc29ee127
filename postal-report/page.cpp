// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/figures.hpp"
#include "proto/base64.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_sentences = 10;       // that are not folded away
constexpr std::size_t most_large_sentences = 3;  // in the largest type
constexpr std::size_t colours = 8;               // as many as the style sheet has
constexpr std::size_t largest_download = 256 * 1024;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

std::string folded(const std::string& summary, const std::string& content) {
    return "<details class=\"card\"><summary>" + escape_html(summary) + "</summary>\n" + content +
           "</details>\n";
}

// One bar, cut into what the whole consists of; the words and numbers stand under it.
std::string bar_html(const std::vector<part>& parts) {
    const double sum = std::accumulate(
        parts.begin(), parts.end(), 0.0,
        [](double before, const part& one) { return before + static_cast<double>(one.count); });
    if (!(sum > 0)) return {};
    std::string bar = "<div class=\"bar\" aria-hidden=\"true\">";
    std::string legend = "<ul class=\"legend\">";
    for (const part& one : parts) {
        const auto count = static_cast<double>(one.count);
        if (one.count > 0)
            bar += fmt::format("<span class=\"o{}\" style=\"flex-grow:{:.6f}\"></span>", one.colour,
                               count / sum);
        if (!one.named) continue;
        legend +=
            fmt::format("<li class=\"{}\"><i class=\"o{}\"></i>{} <b>{}</b> <small>{}</small></li>",
                        one.count > 0 ? "" : "none", one.colour, escape_html(one.title),
                        base::format_count(one.count),
                        one.count > 0 ? escape_html(show_share(count, sum)) : "");
    }
    return bar + "</div>\n" + legend + "</ul>\n";
}

std::string marks_html(const marks& of) {
    std::string out = fmt::format("<figure class=\"card marks\" id=\"{}\">\n<h2>{}</h2>\n", of.id,
                                  escape_html(of.title));
    out += "<ul class=\"legend\">";
    for (std::size_t kind = 0; kind < of.kinds.size(); ++kind)
        out += fmt::format("<li><span class=\"sign\"><i class=\"m{}\"></i></span>{}</li>", kind,
                           escape_html(of.kinds[kind]));
    out += "</ul>\n";
    for (const marks_row& row : of.rows) {
        out += fmt::format(
            "<div class=\"row\"><p class=\"name\">{}</p><p class=\"counts\">{}</p>\n"
            "<div class=\"line\" aria-hidden=\"true\">",
            escape_html(row.name), escape_html(row.counts));
        for (const mark& one : row.each)
            out += fmt::format("<i class=\"m{}\" style=\"left:{:.2f}%\" title=\"{}\"></i>",
                               one.kind, one.at * 100, escape_html(one.text));
        out += "</div></div>\n";
    }
    return out + "<figcaption>" + escape_html(of.caption) + "</figcaption>\n</figure>\n";
}

std::string lane_html(const lane& one) {
    std::string out = fmt::format(
        "<div class=\"lane\"><p class=\"name\">{}</p><p class=\"value\"><b>{}</b> {} "
        "<small>{}</small></p>\n<div class=\"track\"><span style=\"width:{:.2f}%\"></span></div>\n",
        escape_html(one.name), escape_html(one.value), escape_html(one.unit),
        escape_html(one.change), one.of_longest * 100);
    std::string details;
    for (const tile& each : one.details) {
        if (!details.empty()) details += " · ";
        details += each.name.empty()
                       ? "<strong>" + escape_html(each.value) + "</strong>"
                       : escape_html(each.name) + " <b>" + escape_html(each.value) + "</b>";
    }
    return out + "<p class=\"detail\">" + details + "</p></div>\n";
}

// What each block becomes, by its place on the page.
struct page_printer {
    std::string top{};
    std::string headline{};
    std::string charts{};
    std::string tables{};
    std::string noted{};  // remarks, one behind the other

    void end_remarks() {
        if (!noted.empty()) top += "<div class=\"remarks\">\n" + noted + "</div>\n";
        noted.clear();
    }

    // Lines that stand below the title, and headings of parts, whose blocks tell what they are
    // about.
    void operator()(const statement&) {}
    void operator()(const heading&) {}

    void operator()(const item& one) {
        headline += "<p class=\"difference\">" + escape_html(one.text) + "</p>\n";
    }

    void operator()(const findings& one) {
        if (one.sentences.empty()) return;
        end_remarks();
        const bool several = one.small || one.sentences.size() > most_large_sentences;
        top += fmt::format("<section class=\"card verdicts{}{}\" id=\"{}\">\n",
                           one.counts ? "" : " voided", several ? " several" : "", one.id);
        std::string rest;
        for (std::size_t i = 0; i < one.sentences.size(); ++i)
            (i < most_sentences ? top : rest) +=
                fmt::format("<p class=\"{}\">{}.</p>\n", i < most_sentences ? "say" : "further",
                            escape_html(one.sentences[i]));
        if (!rest.empty())
            top += fmt::format("<details><summary>{} more</summary>\n{}</details>\n",
                               one.sentences.size() - most_sentences, rest);
        top += "</section>\n";
    }

    void operator()(const remark& one) {
        (one.late ? tables : noted) +=
            fmt::format("<p class=\"remark {}{}\" role=\"note\">{}.</p>\n", one.kind,
                        one.loud ? " loud" : "", escape_html(one.text));
    }

    void operator()(const placed_table& one) {
        const std::string html = render_html(one.shown);
        if (one.at == place::headline) {
            headline += html;
        } else if (one.at == place::open) {
            tables += html;
        } else {
            const std::string counted =
                fmt::format("{} ({})", one.shown.title, one.shown.rows.size());
            tables += folded(one.summary.empty() ? counted : one.summary, html);
        }
    }

    void operator()(const result_card& one) {
        headline += fmt::format(
            "<section class=\"card hero\" id=\"headline\">\n<div class=\"rate\">"
            "<p class=\"big\">{} <span>{}</span></p>\n<p class=\"note\">{}</p></div>\n"
            "<dl class=\"tiles\">\n",
            escape_html(one.value), escape_html(one.unit), escape_html(one.note));
        for (const tile& each : one.tiles)
            headline += fmt::format("<div class=\"tile {}\"><dt>{}</dt><dd>{}</dd></div>\n",
                                    each.bad    ? "bad"
                                    : each.good ? "good"
                                                : "",
                                    escape_html(each.name), escape_html(each.value));
        headline += "</dl>\n" + bar_html(one.parts) + "</section>\n";
    }

    void operator()(const lanes& one) {
        headline += fmt::format("<section class=\"card lanes\" id=\"headline\">\n<h2>{}</h2>\n",
                                escape_html(one.title));
        for (std::size_t at = 0; at < one.each.size(); ++at)
            headline +=
                fmt::format("<div class=\"s{}\">{}</div>\n", at % colours, lane_html(one.each[at]));
        headline += "</section>\n";
    }

    void operator()(const marks& one) { headline += marks_html(one); }

    void operator()(const chart& one) {
        const std::string height =
            one.height_rem > 0 ? fmt::format(" style=\"height:{:g}rem\"", one.height_rem) : "";
        charts += fmt::format(
            "<figure class=\"card chart\" id=\"{0}\">\n<h2>{1}</h2>\n<div class=\"canvas\"{3}>"
            "<canvas role=\"img\" aria-label=\"{1}\" "
            "aria-describedby=\"{0}-text\"></canvas></div>\n"
            "<figcaption id=\"{0}-text\">{2}</figcaption>\n</figure>\n",
            one.id, escape_html(one.title), escape_html(one.caption), height);
    }

    // Line by line, each one harmless.
    void operator()(const folded_text& one) {
        std::string lines;
        for (const std::string_view line : base::split(one.text, '\n'))
            lines += escape_html(line) + "\n";
        tables += folded(one.summary, "<pre>" + lines + "</pre>\n");
    }
};

// A link that holds its data, so that nothing need be fetched and no script need run.
std::string download_html(const char* name, const char* type, const std::string& text) {
    return fmt::format("<a download=\"postal-report.{0}\" href=\"data:{1};base64,{2}\">{3}</a>",
                       name, type, proto::to_base64(text), base::format_size(text.size()));
}

std::string downloads_html(const sheet& of) {
    if (of.rows.empty()) return {};
    const std::string csv = render_csv(of);
    if (csv.size() > largest_download)
        return "<p>The figures are too large to be a part of this page; --csv prints them.</p>";
    return "<p>Figures to download: CSV " + download_html("csv", "text/csv", csv) + ", JSON " +
           download_html("json", "application/json", render_json(of)) + "</p>";
}

std::string lines_html(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines)
        out += (out.empty() ? "" : "<br>\n") + escape_html(line);
    return out;
}

}  // namespace

std::string fill(std::string_view frame, const std::vector<replacement>& values) {
    std::string out;
    while (!frame.empty()) {
        const auto start = frame.find('@');
        out += frame.substr(0, start);
        if (start == frame.npos) break;
        frame.remove_prefix(start);
        const replacement* found = nullptr;
        for (const replacement& each : values) {
            if (frame.substr(1).starts_with(each.name) &&
                frame.substr(1 + each.name.size()).starts_with('@')) {
                found = &each;
            }
        }
        if (found == nullptr) {
            out += '@';
            frame.remove_prefix(1);
            continue;
        }
        out += found->value;
        frame.remove_prefix(found->name.size() + 2);
    }
    return out;
}

std::string render_page(const document& of, const page_parts& parts) {
    page_printer printer;
    for (const block& one : of.blocks)
        std::visit(printer, one);
    printer.end_remarks();
    const bool draws = !of.page.script.empty();
    return fill(page_frame,
                {{"TITLE", escape_html(of.page.title)},
                 {"SUBTITLE", lines_html(of.page.subtitle)},
                 {"VERSION", std::string{base::build_version}},
                 {"NONCE", std::string{parts.nonce}},
                 {"STYLE", std::string{page_style}},
                 {"REMARKS", printer.top},
                 {"HEADLINE", printer.headline},
                 {"CHARTS", printer.charts},
                 {"KIND", of.page.kind.empty() ? "" : " " + of.page.kind},
                 {"TABLES", printer.tables},
                 {"FOOTNOTE", of.page.footnote},
                 {"DOWNLOADS", downloads_html(parts.figures)},
                 {"DATA", of.page.chart_data},
                 {"LIBRARY", std::string{draws ? parts.chart_library : ""}},
                 {"SCRIPT", draws ? std::string{page_script} + std::string{of.page.script} : ""}});
}

base::expected<std::string> read_chart_library(const std::string& path) {
    auto text = base::read_file(path);
    if (text && text->find("Chart") == std::string::npos) {
        text = base::fail("{}: is not Chart.js", base::printable(path, 300));
    }
    if (!text) {
        return base::fail(
            "{}; --html needs Chart.js: install libjs-chart.js, or name the file with "
            "--chart-library",
            text.error().message);
    }
    // Both are the same to JavaScript within its texts, and neither ends a script element.
    replace_all(*text, "</script", "<\\/script");
    replace_all(*text, "<!--", "<\\!--");
    // The map is for people who debug Chart.js; here it would only be looked for and not found.
    replace_all(*text, "//# sourceMappingURL=", "// ");
    return text;
}

std::string chart_library_path() {
    return POSTAL_CHART_LIBRARY;
}

}  // namespace postal::report
