// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/returned.hpp"

#include <utility>

namespace postal::ledger {

std::vector<returned_row> rows_of(const mail::delivery_report& report, const returned_row& seen,
                                  row_buffer& addresses) {
    static_assert(
        static_cast<int>(action::failed) == static_cast<int>(mail::delivery_action::failed) &&
        static_cast<int>(action::expanded) == static_cast<int>(mail::delivery_action::expanded));
    std::vector<returned_row> rows;
    for (const mail::reported_recipient& one : report.recipients) {
        returned_row row = seen;
        row.run = report.of.run;
        row.session = report.of.session;
        row.sequence = report.of.sequence;
        row.recipient = addresses.address(one.address);
        row.what = static_cast<action>(one.action);
        row.status = short_text(one.status);
        row.detail = one.diagnostic;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace postal::ledger
