// The report as one HTML file that needs nothing beside it: styles, charts and data are inside.
//
// The page's frame, style and script are files of this folder, built into the program; Chart.js is
// read from where the system has it (Debian: libjs-chart.js) when a report is written. Texts from
// records are escaped, the data of the charts cannot end its script element, and the page's own
// content security policy allows neither a foreign script nor any fetch. Without scripts the page
// still has every table.
//
// Fails when Chart.js cannot be read, with the path and the package that has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "postal-report/record.hpp"

namespace postal::report {

struct page_parts {
    std::string_view chart_library;  // the text of Chart.js
    std::string_view nonce;          // a word that nobody can guess
};

// What stands at the foot of pages about runs.
inline constexpr const char* footnote_of_runs =
    "Totals, rates and latencies leave the warm-up out; what is shown over time has it. A message "
    "counts once, when the server has taken responsibility for it.";

// `records` is not empty and has labels.
std::string render_page(const std::vector<record>& records, const page_parts& parts);

// The text of Chart.js, fit to stand in a script element.
base::expected<std::string> read_chart_library(const std::string& path);

// Where Chart.js was when this program was configured.
std::string chart_library_path();

// What stands at the top of the page: the result in large type, what became of the messages, and
// what must not be overlooked. Returns HTML; every text from a record is escaped.
std::string headline_html(const std::vector<record>& records);
std::string remarks_html(const std::vector<record>& records);

// The charts' places, those that the records have something for, with what is to be known of each.
std::string charts_html(const std::vector<record>& records);

// A chart's place. Texts are HTML.
struct figure {
    std::string id;
    std::string title;
    std::string caption;
    double height_rem = 0;  // 0: as the style sheet has it
};
std::string figure_html(const figure& one);

// Content that is shown when the summary, a plain text, is chosen.
std::string folded(const std::string& summary, const std::string& content);

// Every "@NAME@" of the frame replaced by its value in one pass, so that values are never searched.
struct replacement {
    std::string_view name;
    std::string value;
};
std::string fill(std::string_view frame, const std::vector<replacement>& values);

}  // namespace postal::report
