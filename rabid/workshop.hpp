// What the sessions of one worker share: the plan, the way to tickets, the buffer, the examiner of
// messages, the page of the ledger.
//
// One thread's own; nothing in it is locked. What stands in `inbox` belongs to the session that
// runs at the moment.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "ledger/evidence.hpp"
#include "load/turnstile.hpp"
#include "load/worker.hpp"
#include "mail/message_factory.hpp"
#include "mail/rebuild.hpp"
#include "program/ledger.hpp"
#include "rabid/plan.hpp"
#include "sasl/context.hpp"

namespace postal::rabid {

struct workshop final : load::watched {
    static constexpr std::size_t inbox_size = 64 * 1024;

    // Without a ledger `book` is null.
    workshop(plan& of, load::worker& worker, ledger::writer* book);

    void on_deadline() override {}
    void on_stop(load::stop_kind how) override;

    std::optional<net::address> next_local_address() noexcept;

    // Null without a ledger.
    ledger::page* page() noexcept { return desk_ ? &desk_->page() : nullptr; }
    // False while the ledger is behind: visit nobody new.
    bool ledger_keeps_up() const noexcept { return !desk_ || desk_->keeps_up(); }

    // A message of ours for APPEND, and what became of it, for the ledger.
    struct made_message {
        std::string text;
        std::uint64_t sequence = 0;
    };
    made_message make_message(const account& whose);
    void note_appended(const account& whose, const made_message& what, ledger::outcome outcome);

    plan& of_run;
    load::worker& own;
    load::turnstile gate;
    mail::body_rebuilder rebuilder{ledger::evidence::most_remade};
    ledger::evidence_room evidence;     // of the messages in hand
    std::optional<sasl::context> sasl;  // with --auth only
    std::array<char, inbox_size> inbox{};

  private:
    std::optional<program::ledger_desk> desk_;
    mail::message_factory factory_;
    mail::message made_;
    std::uint64_t appended_ = 0;
    std::size_t next_local_ = 0;
};

}  // namespace postal::rabid
