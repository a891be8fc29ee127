// SPDX-License-Identifier: GPL-3.0-or-later
// What is noted of a transaction's recipients, to know how deferred ones are tried again.
#include "bhm/session.hpp"

#include <cstddef>

namespace postal::bhm {

using proto::server_stage;

// When the reply of this stage is on its way.
behaviour::nanoseconds session::said_at(server_stage at, const behaviour::decision& judged) const {
    return since_start() + context_.rules.delays[static_cast<std::size_t>(at)] + judged.delay;
}

void session::note_sender() {
    const plan& run = context_.of_run;
    if (!run.retries) return;
    if (!attempts_) {
        attempts_ = std::make_unique<attempts>(
            *run.retries,
            attempts::origin{.client = client_address(),
                             .lmtp = run.chosen.dialect == proto::dialect::lmtp},
            tally());
    }
    attempts_->begin(machine().current_path());
}

// A cut that takes the place of the reply leaves nothing said.
void session::note_recipient(const behaviour::decision& judged, unsigned code) {
    if (!attempts_) return;
    const bool said = judged.close == proto::cut::no || judged.reply.has_value();
    const deferrals& of_run = context_.of_run.defers;
    const bool later = of_run.taken && conduct_ && conduct_->may_meet_later();
    attempts_->recipient(machine().current_path(), {.code = said ? code : 0U,
                                                    .may_be_deferred = later || of_run.beside,
                                                    .grey = judged.grey,
                                                    .came = since_start(),
                                                    .said = said_at(server_stage::rcpt, judged)});
}

// Of all recipients at once: DATA, a chunk, or over SMTP the message.
void session::note_refusal(server_stage at, const behaviour::decision& judged) {
    if (!attempts_ || !judged.reply || judged.reply->positive()) return;
    attempts_->refused(judged.reply->code, said_at(at, judged));
}

}  // namespace postal::bhm
