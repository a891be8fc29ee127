// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/worker_context.hpp"

#include <chrono>

namespace postal::rabid {
worker_context::worker_context(plan& of, load::worker& worker, ledger::writer* book)
    : of_run(of),
      shared(of.load, worker),
      evidence{ledger::evidence_memory::of_process / worker.of()},
      factory_(of.appends) {
    if (of.populates) maker_.emplace(*of.populates);
    if (book != nullptr) ledger_feed_.emplace(*book, worker, [](bool) {});
}

worker_context::made_message worker_context::make_message(const account& whose,
                                                          std::uint64_t session,
                                                          std::uint64_t sequence) {
    const std::string_view to = whose.address;
    made_message result;
    result.session = session;
    result.sequence = sequence;
    factory_.make({.session = session,
                   .sequence = result.sequence,
                   .from = to,
                   .recipients = {&to, 1},
                   .now = std::chrono::system_clock::now()},
                  made_);
    for (const std::string_view part : made_.raw_parts())
        result.text += part;
    return result;
}

void worker_context::note_appended(const account& whose, const made_message& what,
                                   ledger::outcome outcome) {
    if (outcome == ledger::outcome::accepted) ++shared.counts().appended;
    if (outcome == ledger::outcome::in_doubt) ++shared.counts().append_in_doubt;
    if (row_buffer() == nullptr) return;
    ledger::sent_row row;
    row.session = what.session;
    row.sequence = what.sequence;
    row.time_us = now_us();
    row.octets = what.text.size();
    row.recipient = row.sender = row_buffer()->address(whose.address);
    row.what = outcome;
    row_buffer()->add(row);
}

}  // namespace postal::rabid
