// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/examination.hpp"

namespace postal::ledger {

void examination::feed(std::string_view piece) {
    checker_.feed(piece);
    kept_.feed(piece);
}

void examination::describe(const mail::check_result& result, seen_row& row,
                           mail::body_rebuilder& rebuilder) {
    row.what = result.what == mail::integrity::foreign ? condition::foreign : condition::verified;
    if (result.what == mail::integrity::corrupt) kept_.explain(result.id, rebuilder, row);
    if (result.id == nullptr) return;
    row.run = result.id->run;
    row.session = result.id->session;
    row.sequence = result.id->sequence;
    row.sent_us = result.id->time_us;
}

bool examination::skipping() {
    if (!checker_.skipping()) return false;
    if (!may_be_report_) may_be_report_ = mail::may_be_delivery_report(kept_.beginning());
    return !*may_be_report_;
}

std::optional<mail::delivery_report> examination::returned() {
    if (!kept_.whole()) return std::nullopt;
    return mail::read_delivery_report(kept_.text());
}

void examination::reset() noexcept {
    may_be_report_.reset();
    checker_.reset();
    kept_.end();
    kept_.begin();
}

}  // namespace postal::ledger
