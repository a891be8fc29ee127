// What the sessions of one worker share: the plan, the way to tickets, the source of messages.
//
// One thread's own; nothing in it is locked.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "load/turnstile.hpp"
#include "load/worker.hpp"
#include "mail/message.hpp"
#include "postal/ledger_entries.hpp"
#include "postal/plan.hpp"
#include "program/ledger.hpp"
#include "sasl/context.hpp"

namespace postal {

struct workshop final : load::watched {
    // Without a ledger `book` is null.
    workshop(plan& of, load::worker& worker, ledger::writer* book = nullptr);

    void on_deadline() override {}
    void on_stop(load::stop_kind how) override;

    // Messages are lent to transactions from the first command until they are written, so that a
    // session that waits holds none.
    mail::message* lend();
    void give_back(mail::message* one) { spare_.push_back(one); }

    // The wall clock's time at a moment of the steady clock, without asking the kernel again.
    std::chrono::system_clock::time_point wall_clock(load::steady_time now);

    std::uint64_t wall_clock_us(load::steady_time now);

    // Null without a ledger.
    ledger_entries* entries() noexcept { return entries_ ? &*entries_ : nullptr; }

    // The next local address in turn, if the user has given any.
    std::optional<net::address> next_local_address() noexcept;

    plan& of_run;
    load::worker& own;
    load::turnstile gate;
    std::unique_ptr<mail::message_source> source;
    std::optional<sasl::context> sasl;         // with --auth only
    std::vector<std::string_view> recipients;  // scratch of begin_transaction()

  private:
    std::optional<program::ledger_desk> desk_;
    std::optional<ledger_entries> entries_;
    std::vector<std::unique_ptr<mail::message>> messages_;
    std::vector<mail::message*> spare_;
    std::size_t next_local_ = 0;
    load::steady_time compared_at_{};
    std::chrono::nanoseconds wall_ahead_{0};
};

}  // namespace postal
