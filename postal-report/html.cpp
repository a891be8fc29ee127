#include "postal-report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/sections.hpp"
#include "postal-report/words.hpp"
#include "report/table.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_interval_rows = 500;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

std::string title_of(const std::vector<record>& records) {
    if (records.size() > 1) return fmt::format("{} runs compared", records.size());
    const record& one = records.front();
    const std::string rate =
        one.rate.mean ? show_rate(one.rate, &message_rate::mean) + " messages/min" : "";
    return one.program + (rate.empty() ? "" : ": ") + rate;
}

std::string subtitle_of(const std::vector<record>& records) {
    if (records.size() == 1) return escape_html(describe(records.front()));
    std::string out;
    for (const record& one : records) {
        out += escape_html(one.label) + ": " + escape_html(describe(one)) + "<br>\n";
    }
    return out;
}

std::string compared_html(const std::vector<record>& records) {
    const table differ = differing_options_table(records);
    std::string out;
    for (const std::string& each : differences(records))
        out += "<p class=\"difference\">" + escape_html(each) + "</p>\n";
    return out + (differ.rows.empty() ? "" : render_html(differ));
}

// What is drawn over time and stands in no other table: the page alone has room for it.
std::string course_html(const std::vector<record>& records) {
    std::string out;
    for (const record& one : records) {
        table shown = course_table(one);
        if (shown.rows.empty()) continue;
        if (records.size() > 1) shown.title += " of " + one.label;
        const std::string summary = fmt::format("{} ({})", shown.title, shown.rows.size());
        keep_first(shown, most_interval_rows, shown_by_second(one) ? "seconds" : "intervals");
        out += folded(summary, render_html(shown));
    }
    return out;
}

std::string tables_html(const std::vector<record>& records) {
    std::string out;
    for (const table& each : sections(records))
        if (each.name != compared_name) out += render_html(each);
    out += course_html(records);
    for (const table& each : details(records, most_interval_rows)) {
        const bool host = each.name == "host";
        const std::string summary = fmt::format("{} ({})", each.title, each.rows.size());
        out += host ? render_html(each) : folded(summary, render_html(each));
    }
    return out;
}

}  // namespace

std::string figure_html(const figure& one) {
    const std::string height =
        one.height_rem > 0 ? fmt::format(" style=\"height:{:g}rem\"", one.height_rem) : "";
    return fmt::format(
        "<figure class=\"card chart\" id=\"{0}\">\n<h2>{1}</h2>\n<div class=\"canvas\"{3}>"
        "<canvas role=\"img\" aria-label=\"{1}\" aria-describedby=\"{0}-text\"></canvas></div>\n"
        "<figcaption id=\"{0}-text\">{2}</figcaption>\n</figure>\n",
        one.id, one.title, one.caption, height);
}

std::string folded(const std::string& summary, const std::string& content) {
    return "<details class=\"card\"><summary>" + escape_html(summary) + "</summary>\n" + content +
           "</details>\n";
}

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

std::string render_page(const std::vector<record>& records, const page_parts& parts) {
    return fill(page_frame, {{"TITLE", escape_html(title_of(records))},
                             {"SUBTITLE", subtitle_of(records)},
                             {"VERSION", std::string{base::build_version}},
                             {"NONCE", std::string{parts.nonce}},
                             {"STYLE", std::string{page_style}},
                             {"REMARKS", remarks_html(records)},
                             {"HEADLINE", headline_html(records) + compared_html(records)},
                             {"CHARTS", charts_html(records)},
                             {"KIND", records.size() == 1 ? " single" : ""},
                             {"TABLES", tables_html(records)},
                             {"FOOTNOTE", footnote_of_runs},
                             {"DATA", chart_data(records)},
                             {"LIBRARY", std::string{parts.chart_library}},
                             {"SCRIPT", std::string{page_script} + std::string{records_script}}});
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
