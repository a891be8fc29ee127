// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/message_outcomes.hpp"

#include <utility>

namespace postal::sender {

void message_outcomes::start(transaction& tx) {
    tx.open_units = lmtp_ ? static_cast<std::uint32_t>(tx.recipients.size()) : 1;
    counts_.started += tx.open_units;
    if (entries_ != nullptr) ledger_entries::begin(tx);
}

void message_outcomes::accept_recipient(transaction& tx, std::size_t which) {
    if (entries_ != nullptr) ledger_entries::rcpt_accepted(tx, which);
}

void message_outcomes::refuse_recipient(transaction& tx, std::size_t which, const reply& said,
                                        moment at) {
    const ledger::outcome what = outcome_of(said);
    if (entries_ != nullptr) entries_->rcpt_refused(tx, which, {what, said, at.wall_us()});
    if (!lmtp_) return;
    count(what, said.code, tx, tx.accepted, 1, at);  // those before it wait for the message's end
}

void message_outcomes::end(transaction& tx, units which, ledger::outcome what, const reply& said,
                           moment at) {
    if (tx.open_units == 0) return;
    const bool one = lmtp_ && which == units::next;
    const std::uint32_t ended = one ? 1 : tx.open_units;
    if (what == ledger::outcome::accepted) time(tx, at);
    count(what, said.code, tx, 0, ended, at);
    if (entries_ == nullptr) return;
    const ledger_entries::end how{what, said, at.wall_us()};
    one ? entries_->end_next(tx, how) : entries_->end_rest(tx, how);
}

ledger::outcome message_outcomes::outcome_of(const reply& said) noexcept {
    if (!said.negative()) return ledger::outcome::accepted;
    return said.permanent() ? ledger::outcome::rejected : ledger::outcome::deferred;
}

void message_outcomes::count(ledger::outcome what, int code, transaction& tx, std::size_t first,
                             std::uint32_t messages, moment at) {
    tx.open_units -= messages;
    for (std::uint32_t i = 0; i < messages; ++i) {
        if (samples_ != nullptr) sample(what, code, tx, tx.due_of(first), at);
        counts_.trial.ended(tx.due_of(first), at.steady, static_cast<stats::trial_end>(what));
        if (what != ledger::outcome::accepted)
            counts_.unserved.record(at.steady - tx.due_of(first));
        tx.each_due.remove(first);
    }
    // In the order of ledger::outcome, from the second on.
    static constexpr std::uint64_t stats::counts::*counters[] = {
        &stats::counts::rejected, &stats::counts::deferred, &stats::counts::failed,
        &stats::counts::in_doubt};
    if (what != ledger::outcome::accepted) {
        counts_.*counters[static_cast<std::size_t>(what) - 1] += messages;
        return;
    }
    counts_.accepted(messages, at.steady);
    counts_.recipients += lmtp_ ? messages : tx.accepted;
    counts_.bytes += messages * tx.octets;
}

void message_outcomes::sample(ledger::outcome what, int code, const transaction& tx,
                              load::steady_time due, moment at) {
    samples_->add({.ended = at.steady - samples_->start(),
                   .session = tx.session,
                   .sequence = tx.sequence,
                   .octets = tx.octets,
                   .what = what,
                   .code = static_cast<std::uint16_t>(code),
                   .late = tx.begun - due,
                   .took = at.steady - tx.begun,
                   .envelope = tx.envelope_done - tx.begun,
                   .data = at.steady - tx.data_begun});
}

void message_outcomes::time(transaction& tx, moment at) {
    if (!std::exchange(tx.envelope_timed, true)) took(phase::envelope, tx.envelope_done - tx.begun);
    took(phase::data, at.steady - tx.data_begun);
    took(phase::message, at.steady - tx.due_of(0));
    took(phase::service, at.steady - tx.begun);
}

}  // namespace postal::sender
