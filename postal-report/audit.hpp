// SPDX-License-Identifier: GPL-3.0-or-later
// An audit by power cuts, by itself or as a part of an experiment; what it says is
// lib/audit/findings.hpp's business.
#pragma once

#include <optional>
#include <string>

#include "audit/findings.hpp"
#include "base/result.hpp"
#include "postal-report/csv.hpp"
#include "report/document.hpp"

namespace postal::report {

struct shown_audit {
    audit::audit_record record;
    audit::audit_analysis found;
};

// None where the folder holds no audit; fails where its record cannot be read.
base::expected<std::optional<shown_audit>> find_audit(const std::string& folder);

// One line for each disk that was looked at.
sheet sheet_of(const shown_audit& of);

document document_of(const shown_audit& of, medium wanted);

}  // namespace postal::report
