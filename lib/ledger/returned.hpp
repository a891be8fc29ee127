// SPDX-License-Identifier: GPL-3.0-or-later
// A notification that came back, as rows of a ledger.
#pragma once

#include <vector>

#include "ledger/row_buffer.hpp"
#include "mail/delivery_report.hpp"

namespace postal::ledger {

// A row for each recipient that it names; `seen` says when, where and through what it came.
[[nodiscard]] std::vector<returned_row> rows_of(const mail::delivery_report& report,
                                                const returned_row& seen, row_buffer& addresses);

}  // namespace postal::ledger
