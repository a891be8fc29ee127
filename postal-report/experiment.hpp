// SPDX-License-Identifier: GPL-3.0-or-later
// The results of an experiment that postal-compare has run; what they say is
// lib/experiment/findings.hpp's business.
#pragma once

#include <optional>

#include "experiment/analysis.hpp"
#include "postal-report/audit.hpp"
#include "postal-report/csv.hpp"
#include "report/document.hpp"

namespace postal::report {

// One line for each run that counts, in order of time: its place, why it voids its block, the
// metrics (of several programs each column begins with the program's name and a point), and what
// was spent.
sheet sheet_of(const experiment::results& of);

// Verdicts, what must not be overlooked, charts, tables. What an audit has found stands beside each
// variant's speed, and has a part of its own.
document document_of(const experiment::results& of, const experiment::analysis& found,
                     const std::optional<shown_audit>& audited, medium wanted);

}  // namespace postal::report
