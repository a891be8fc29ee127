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

void examination::reset() noexcept {
    checker_.reset();
    kept_.end();
    kept_.begin();
}

}  // namespace postal::ledger
