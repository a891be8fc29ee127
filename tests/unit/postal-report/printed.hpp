// SPDX-License-Identifier: GPL-3.0-or-later
// What the printers make of a subject.
#pragma once

#include <string>
#include <vector>

#include "postal-report/csv.hpp"
#include "postal-report/page.hpp"
#include "postal-report/relay.hpp"
#include "postal-report/run.hpp"
#include "report/document.hpp"

namespace test {

namespace report = postal::report;

struct printed {
    std::string text, markdown, page, csv;
};

inline printed printed_of(auto document_for, const report::sheet& figures) {
    using report::medium;
    return {render_text(document_for(medium::text)),
            render_markdown(document_for(medium::markdown)),
            render_page(document_for(medium::page), {"/* Chart */", "abc"}), render_csv(figures)};
}

inline printed printed_of(const std::vector<report::record>& records) {
    return printed_of([&](report::medium wanted) { return document_of(records, wanted); },
                      sheet_of(records));
}

inline printed printed_of(const report::shown_relay& one) {
    return printed_of([&](report::medium wanted) { return document_of(one, wanted); },
                      sheet_of(one));
}

}  // namespace test
