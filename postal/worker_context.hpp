// SPDX-License-Identifier: GPL-3.0-or-later
// What postal's sessions of one worker share beside what all clients' do: who makes messages, who
// counts them, and the rows of the ledger.
//
// One thread's own; nothing in it is locked.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "client/worker_context.hpp"
#include "ledger/writer.hpp"
#include "postal/ledger_entries.hpp"
#include "postal/message_maker.hpp"
#include "postal/message_outcomes.hpp"
#include "postal/plan.hpp"
#include "postal/sample_file.hpp"
#include "program/run_ledger.hpp"

namespace postal::sender {

struct worker_context final : private sent_rows {
    // Without a ledger `book` is null. All must outlive it.
    worker_context(plan& of, load::worker& worker, ledger::writer* book);

    // A moment of the steady clock on the wall's too, without asking the kernel again: the two are
    // compared once a second, so that a stepped wall clock is followed.
    moment at(load::steady_time now) {
        if (now - compared_at_ > std::chrono::seconds(1)) compare_clocks(now);
        return {now, now.time_since_epoch() + wall_ahead_};
    }

    plan& of_run;
    client::worker_context shared;
    message_maker maker;

  private:
    void add(const ledger::sent_row& row) override { ledger_feed_->row_buffer().add(row); }
    ledger::address_id address(std::string_view text) override { return book_->address(text); }
    void compare_clocks(load::steady_time now);
    // While one of the files does not keep up nothing is begun.
    void wait_for_files() { shared.gate.hold_shut(ledger_behind_ || samples_behind_); }

    ledger::writer* book_;
    bool ledger_behind_ = false;
    bool samples_behind_ = false;
    std::optional<sample_feed> sample_feed_;
    std::optional<program::ledger_feed> ledger_feed_;
    std::optional<ledger_entries> entries_;
    load::steady_time compared_at_{};
    std::chrono::nanoseconds wall_ahead_{0};

  public:
    message_outcomes outcomes;
};

}  // namespace postal::sender
