// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/ledger_entries.hpp"

#include <algorithm>

namespace postal::sender {

ledger_entries::ledger_entries(const plan& of, sent_rows& into)
    : plan_(of), rows_(into), recipients_(of.recipients.size()), senders_(of.senders.size()) {}

void ledger_entries::rcpt_refused(transaction& tx, std::size_t which, const end& how) {
    settle(tx.fates[which], how);
    if (plan_.chosen.lmtp) write(tx, which, counts::yes);
}

void ledger_entries::end_next(transaction& tx, const end& how) {
    const auto next = std::find_if(tx.fates.begin(), tx.fates.end(),
                                   [](const fate& one) { return one.state == fate::taken; });
    if (next == tx.fates.end()) return;
    settle(*next, how);
    write(tx, static_cast<std::size_t>(next - tx.fates.begin()), counts::yes);
}

void ledger_entries::end_rest(transaction& tx, const end& how) {
    if (!plan_.chosen.lmtp) return end_message(tx, how);
    for (std::size_t each = 0; each < tx.fates.size(); ++each) {
        if (tx.fates[each].state == fate::ended) continue;
        settle(tx.fates[each], how);
        write(tx, each, counts::yes);
    }
}

// Of those that share the message's outcome, the first counts.
void ledger_entries::end_message(transaction& tx, const end& how) {
    for (fate& one : tx.fates) {
        if (one.state != fate::ended) settle(one, how);
    }
    bool counted = false;
    for (std::size_t each = 0; each < tx.fates.size(); ++each) {
        const bool this_one = !counted && tx.fates[each].what == how.what;
        write(tx, each, this_one ? counts::yes : counts::no);
        counted = counted || this_one;
    }
}

void ledger_entries::settle(fate& one, const end& how) {
    one.state = fate::ended;
    one.what = how.what;
    one.code = static_cast<std::uint16_t>(how.said.code);
    one.enhanced = ledger::short_text(how.said.enhanced());
    one.time_us = how.time_us;
}

void ledger_entries::write(const transaction& tx, std::size_t which, counts counted) {
    const fate& one = tx.fates[which];
    ledger::sent_row row;
    row.session = tx.session;
    row.sequence = tx.sequence;
    row.time_us = one.time_us;
    row.octets = tx.octets;
    row.recipient = number_of(recipients_, plan_.recipients, tx.recipients[which]);
    row.sender = number_of(senders_, plan_.senders, tx.sender_index);
    row.what = one.what;
    row.counted = counted == counts::yes;
    row.code = one.code;
    row.enhanced = one.enhanced;
    rows_.add(row);
}

ledger::address_id ledger_entries::number_of(std::vector<ledger::address_id>& known,
                                             const std::vector<mail::user>& users,
                                             std::size_t which) {
    ledger::address_id& number = known[which];
    if (number == 0) number = rows_.address(users[which].address);
    return number;
}

}  // namespace postal::sender
