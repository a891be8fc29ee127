// SPDX-License-Identifier: GPL-3.0-or-later
// What postal writes into its ledger: a row for each recipient of a message, when its outcome is
// known.
//
// Over LMTP each recipient's outcome is written at once, and each row counts. Over SMTP the rows of
// a transaction are written together when the transaction ends, because only then it is known which
// of them stands for the one message that the totals count: the first with the message's outcome.
// So the rows that count are as many, by outcome, as the totals of the run say (with the warm-up).
//
// One worker's own. Called by message_outcomes only when there is a ledger.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ledger/rows.hpp"
#include "postal/plan.hpp"
#include "postal/transaction.hpp"

namespace postal::sender {

// Where the rows go.
class sent_rows {
  public:
    virtual ~sent_rows() = default;
    virtual void add(const ledger::sent_row& row) = 0;
    // As ledger::writer::address().
    virtual ledger::address_id address(std::string_view text) = 0;
};

class ledger_entries {
  public:
    // How something ended: the reply that said so, with code 0 when there was none.
    struct end {
        ledger::outcome what = ledger::outcome::accepted;
        reply said{};
        std::uint64_t time_us = 0;
    };

    // Both must outlive it.
    ledger_entries(const plan& of, sent_rows& into);

    static void begin(transaction& tx) { tx.fates.assign(tx.recipients.size(), {}); }
    // The reply to the RCPT command of that number.
    static void rcpt_accepted(transaction& tx, std::size_t which) {
        tx.fates[which].state = fate::taken;
    }
    void rcpt_refused(transaction& tx, std::size_t which, const end& how);
    // The reply behind the data over LMTP, for the next recipient that waits for it.
    void end_next(transaction& tx, const end& how);
    // Of all that have no outcome yet.
    void end_rest(transaction& tx, const end& how);

  private:
    enum class counts : bool { no, yes };

    void end_message(transaction& tx, const end& how);
    static void settle(fate& one, const end& how);
    void write(const transaction& tx, std::size_t which, counts counted);
    ledger::address_id number_of(std::vector<ledger::address_id>& known,
                                 const std::vector<mail::user>& users, std::size_t which);

    const plan& plan_;
    sent_rows& rows_;
    std::vector<ledger::address_id> recipients_;  // by their place in the plan's list; 0: not asked
    std::vector<ledger::address_id> senders_;
};

}  // namespace postal::sender
