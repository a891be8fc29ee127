// SPDX-License-Identifier: GPL-3.0-or-later
// Where postal's messages are counted and timed: what was started, how each of them ended, what
// went wrong.
//
// Every message that is started (SMTP: a transaction, LMTP: a recipient of one) is ended once, by
// end() or refuse_recipient(), which tell the ledger the same. What went wrong is counted once more
// by kind in the error table. No clock: moments are handed in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error_names.hpp"
#include "client/stage.hpp"
#include "ledger/rows.hpp"
#include "postal/ledger_entries.hpp"
#include "postal/phases.hpp"
#include "postal/sample_file.hpp"
#include "postal/transaction.hpp"
#include "stats/tally.hpp"

namespace postal::sender {

class message_outcomes {
  public:
    // Which of a transaction's messages a reply ends: the next that waits (over SMTP there is one),
    // or all that have no outcome yet.
    enum class units : std::uint8_t { next, rest };

    // `entries` is null without a ledger.
    message_outcomes(stats::tally& counts, ledger_entries* entries, bool lmtp) noexcept
        : counts_(counts), entries_(entries), lmtp_(lmtp) {}

    // Each outcome is told there, too.
    void sample(sample_feed& into) noexcept { samples_ = &into; }

    void start(transaction& tx);

    // The reply to the RCPT command of that number.
    void accept_recipient(transaction& tx, std::size_t which);
    void refuse_recipient(transaction& tx, std::size_t which, const reply& said, moment at);

    void end(transaction& tx, units which, ledger::outcome what, const reply& said, moment at);
    // The same with the outcome that the reply says.
    void end(transaction& tx, units which, const reply& said, moment at) {
        end(tx, which, outcome_of(said), said, at);
    }

    // `server`: who said it, or failed.
    void error(client::stage where, const reply& said, std::string_view server) {
        counts_.errors.add(to_text(where), said.code, said.enhanced(), said.text, server);
    }
    void error(client::stage where, base::error_name reason, std::string_view sample,
               std::string_view server) {
        counts_.errors.add(to_text(where), 0, reason, sample, server);
    }

  private:
    static ledger::outcome outcome_of(const reply& said) noexcept;
    // The outcome of so many messages of those that had none, from the `first` of these on.
    void count(ledger::outcome what, int code, transaction& tx, std::size_t first,
               std::uint32_t messages, moment at);
    void sample(ledger::outcome what, int code, const transaction& tx, load::steady_time due,
                moment at);
    void time(transaction& tx, moment at);
    void took(phase what, std::chrono::nanoseconds time) noexcept {
        counts_.latency[static_cast<std::size_t>(what)].record(time);
    }

    stats::tally& counts_;
    ledger_entries* entries_;
    sample_feed* samples_ = nullptr;
    bool lmtp_;
};

}  // namespace postal::sender
