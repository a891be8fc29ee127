// What an audit by power cuts has found, as CSV and as a page, or as a part of an experiment's page; as
// text and Markdown it is lib/experiment/audit_findings.hpp's business.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "experiment/audit_findings.hpp"
#include "postal-report/html.hpp"

namespace postal::report {

struct shown_audit {
    experiment::audit_record record;
    experiment::audit_analysis found;
};

// None where the folder holds no audit; fails where its record cannot be read.
base::expected<std::optional<shown_audit>> find_audit(const std::string& folder);

// One line for each disk that was looked at, after a header.
std::string render_csv(const shown_audit& of);

std::string render_page(const shown_audit& of, const page_parts& parts);

// Verdicts and what must not be overlooked, gravest first; then the tables.
std::string sentences_html(const shown_audit& of);
std::string tables_html(const shown_audit& of);

}  // namespace postal::report
