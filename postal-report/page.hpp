// SPDX-License-Identifier: GPL-3.0-or-later
// A document as one HTML file that needs nothing beside it: styles, charts and data are inside.
//
// The page's frame, style and scripts are files of this folder, built into the program; Chart.js is
// read from where the system has it (Debian: libjs-chart.js) when a report is written. Texts are
// escaped, the data of the charts cannot end its script element, and the page's own content
// security policy allows neither a foreign script nor any fetch. Without scripts the page still has
// every table.
//
// Fails when Chart.js cannot be read, with the path and the package that has it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "postal-report/csv.hpp"
#include "report/document.hpp"

namespace postal::report {

struct page_parts {
    std::string_view chart_library;  // the text of Chart.js
    std::string_view nonce;          // a word that nobody can guess
    sheet figures = {};              // to be downloaded, as CSV and as JSON, unless it is too large
};

std::string render_page(const document& of, const page_parts& parts);

// The text of Chart.js, fit to stand in a script element.
base::expected<std::string> read_chart_library(const std::string& path);

// Where Chart.js was when this program was configured.
std::string chart_library_path();

// Every "@NAME@" of the frame replaced by its value in one pass, so that values are never searched.
struct replacement {
    std::string_view name;
    std::string value;
};
std::string fill(std::string_view frame, const std::vector<replacement>& values);

}  // namespace postal::report
