// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/transaction_books.hpp"

#include <utility>

namespace postal::serve {

using proto::server_stage;

// A sender that is given twice is an error and changes nothing.
void transaction_books::sender_answered(const proto::server_reply& reply, bool more_came) {
    if (!reply.positive() && machine_.in_transaction()) return;
    unit_begins();
    had_transaction_ = true;
    recipient_named_ = false;
    pipelined_ = more_came;
    refusal_ = 0;
    if (reply.positive()) return;
    refusal_ = reply.code;
    units_refused(1, refusal_);
}

void transaction_books::recipient_answered(const proto::server_reply& reply, bool more_came) {
    const bool sender_refused = !machine_.in_transaction();
    if (sender_refused && refusal_ == 0) return;  // there was none
    pipelined_ = pipelined_ || more_came;
    const bool first = !std::exchange(recipient_named_, true);
    const bool ends_unit = lmtp() && !reply.positive() && !(first && sender_refused);
    if (lmtp() && !first) unit_begins();
    if (ends_unit) units_refused(1, sender_refused ? refusal_ : reply.code);
    if (sender_refused) return;
    if (reply.positive()) {
        refusal_ = 0;
    } else if (machine_.recipients() == 0 && (refusal_ < 400 || refusal_ >= 500)) {
        refusal_ = reply.code;
    }
}

// A chunk that was refused has ended its message, and what is refused behind it follows from that.
unsigned transaction_books::content_answered(const proto::server_reply& reply) {
    const bool of_message = begun_ != 0 || refusal_ != 0;
    if (!reply.positive()) refused_with(reply.code);
    return of_message ? refusal_ : 0;
}

bool transaction_books::follows_refusal(server_stage stage) const {
    if (refusal_ == 0) return false;
    if (stage == server_stage::rcpt) return !machine_.in_transaction();
    return stage == server_stage::data && machine_.recipients() == 0;
}

void transaction_books::unit_begins() {
    ++begun_;
    ++own_.tally().started;
}

void transaction_books::units_refused(std::uint32_t units, unsigned code) {
    (code < 500 ? own_.tally().deferred : own_.tally().rejected) += units;
    begun_ -= units;
}

void transaction_books::message_ends(load::steady_time now) {
    own_.tally().latency[rules_.data_phase].record(now - data_at_);
    ++own_.tally().transactions;
    if (pipelined_) ++own_.tally().pipelined;
}

std::uint32_t transaction_books::dropped(bool in_doubt) {
    if (refusal_ != 0) units_refused(begun_, refusal_);
    (in_doubt ? own_.tally().in_doubt : own_.tally().failed) += begun_;
    refusal_ = 0;
    return std::exchange(begun_, 0);
}

}  // namespace postal::serve
