// SPDX-License-Identifier: GPL-3.0-or-later
// What was sampled beside runs: a queue's depth, or what a command printed, as tables and charts.
//
// A chart for all queues, and one for each command, whose figures may be of any unit. Figures that
// were always 0 are not drawn where others are not; at most most_lines lines of a chart. Of several
// runs a chart has a line for each run and figure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "postal-report/record.hpp"
#include "report/document.hpp"

namespace postal::report {

// The names of all figures, each once; that figure of a record, null where it has none.
std::vector<std::string> sample_names(const std::vector<record>& records);
const stats::sample_series* find_sample(const record& one, std::string_view name);

// Each figure at the end and at its highest; of one record with more columns.
table sample_table(const std::vector<record>& records);
// Of each source its figures over time; without names.
std::vector<table> sample_courses(const record& one);

std::vector<chart> sample_charts(const std::vector<record>& records);
// [{"chart": id, "unit": text, "lines": [{"label": text, "points": [[s, value], ...]}]}]
std::string sample_series_data(const std::vector<record>& records);
// The end of the last sample of all.
double last_sample_s(const std::vector<record>& records);

// What waited while mail was accepted, which queues grew, which samples were missed.
std::vector<remark> sample_remarks(const record& one);

}  // namespace postal::report
