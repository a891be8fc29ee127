// SPDX-License-Identifier: GPL-3.0-or-later
// What rabid's sessions of one worker share beside what all clients' do: how messages are remade
// and kept, what APPEND puts into mailboxes, the rows of the ledger.
//
// One thread's own; nothing in it is locked.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "client/worker_context.hpp"
#include "ledger/evidence.hpp"
#include "mail/message_factory.hpp"
#include "mail/rebuild.hpp"
#include "program/run_ledger.hpp"
#include "rabid/plan.hpp"
#include "rabid/population.hpp"

namespace postal::rabid {

struct worker_context final {
    // Without a ledger `book` is null.
    worker_context(plan& of, load::worker& worker, ledger::writer* book);

    // Null without a ledger.
    ledger::row_buffer* row_buffer() noexcept {
        return ledger_feed_ ? &ledger_feed_->row_buffer() : nullptr;
    }
    // False while the ledger is behind: visit nobody new.
    bool ledger_keeps_up() const noexcept { return !ledger_feed_ || ledger_feed_->keeps_up(); }

    // A message of ours for APPEND, and what became of it, for the ledger.
    struct made_message {
        std::string text;
        std::uint64_t session = 0;
        std::uint64_t sequence = 0;
    };
    made_message make_message(const account& whose, std::uint64_t session, std::uint64_t sequence);
    void note_appended(const account& whose, const made_message& what, ledger::outcome outcome);

    // With --populate.
    population_maker& maker() noexcept { return *maker_; }

    plan& of_run;
    client::worker_context shared;
    // Those that wait for an account; the first looks for one now and then.
    std::deque<load::turnstile::waiter*> without_account;
    mail::body_rebuilder rebuilder{ledger::evidence::most_remade};
    ledger::evidence_memory evidence;  // of the messages in hand

  private:
    std::optional<program::ledger_feed> ledger_feed_;
    mail::message_factory factory_;
    mail::message made_;
    std::optional<population_maker> maker_;
};

}  // namespace postal::rabid
