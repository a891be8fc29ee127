// The results of an experiment that postal-compare has run, as CSV and as a page; as text and
// Markdown they are lib/experiment/findings.hpp's business.
#pragma once

#include <optional>
#include <string>

#include "experiment/analysis.hpp"
#include "postal-report/audit.hpp"
#include "postal-report/html.hpp"

namespace postal::report {

// One line for each run that counts, in order of time, after a header: its place, why it voids its
// block, the metrics (of several programs each column begins with the program's name and a point),
// and what was spent. See csv.hpp for the form of the fields.
std::string render_csv(const experiment::results& of);

// The page: verdicts, what must not be overlooked, charts, tables. What an audit has found stands
// beside each variant's speed, and has a part of its own.
std::string render_page(const experiment::results& of, const experiment::analysis& found,
                        const std::optional<shown_audit>& audited, const page_parts& parts);

}  // namespace postal::report
