#include <algorithm>
#include <limits>

#include "apparatus.hpp"
#include "judgements.hpp"
#include "ledger/reconciler.hpp"
#include "sink.hpp"

namespace simulation {

namespace {

using postal::ledger::outcome;
using postal::ledger::sent_row;

// What the scenario has done to accepted mail, and nothing else, is what the ledger is to say.
void compare(const evidence& what, const rows_by_message& messages,
             const postal::ledger::summary& said, verdict& found) {
    using copies_by_mailbox = std::map<postal::ledger::address_id, std::uint64_t>;
    std::map<message_number, copies_by_mailbox> there;
    postal::ledger::summary truth;
    for (const connection_record& line : what.connections) {
        for (std::size_t which = 0; which < line.served.size(); ++which) {
            const served_transaction& served = line.served[which];
            if (served.foreign) continue;
            const std::uint64_t session = line.line.number().session;
            const std::uint64_t sequence = served.sequence;
            const bool changed = served.changed;
            std::optional<harm> how = harm_of(what.of, session, line.sequence_of(which));
            for (const std::string& mailbox : served.delivered) {
                const std::string_view to = how == harm::elsewhere ? somebody_else : mailbox;
                there[{session, sequence}][what.rows.address(to)] += how == harm::lost    ? 0
                                                                     : how == harm::twice ? 2
                                                                                          : 1;
                truth.corrupt[0] += changed ? (how == harm::lost    ? 0
                                               : how == harm::twice ? 2
                                                                    : 1)
                                            : 0;
                how.reset();
            }
        }
    }
    const auto elsewhere = what.rows.address(somebody_else);
    for (const auto& [message, rows] : messages) {
        copies_by_mailbox& copies = there[message];
        std::uint64_t missing = 0;
        for (const sent_row* row : rows) {
            const std::uint64_t number = copies[row->recipient];
            const bool accepted = row->what == outcome::accepted;
            ++truth.sent[static_cast<std::size_t>(row->what)];
            truth.found += accepted && number > 0 ? 1 : 0;
            truth.unacknowledged[static_cast<std::size_t>(row->what)] +=
                !accepted && number > 0 ? 1 : 0;
            truth.duplicated += number > 1 ? 1 : 0;
            missing += accepted && number == 0 ? 1 : 0;
        }
        const std::uint64_t strays = copies[elsewhere];
        truth.misdelivered += strays;
        truth.misplaced += std::min(strays, missing);
        truth.lost += missing - std::min(strays, missing);
    }
    found.equal("ledger: accepted", said.acknowledged(), truth.acknowledged());
    found.equal("ledger: found", said.found, truth.found);
    found.equal("ledger: lost", said.lost, truth.lost);
    found.equal("ledger: duplicated", said.duplicated, truth.duplicated);
    found.equal("ledger: corrupt", said.all_corrupt(), truth.corrupt[0]);
    found.equal("ledger: misdelivered", said.misdelivered, truth.misdelivered);
    found.equal("ledger: misplaced", said.misplaced, truth.misplaced);
    found.equal("ledger: out of order", said.out_of_order, std::uint64_t{0});
    found.equal("ledger: seen before it was sent", said.seen_before_sent, std::uint64_t{0});
    for (std::size_t each = 0; each < truth.sent.size(); ++each) {
        const std::string_view name = to_text(static_cast<outcome>(each));
        if (said.unacknowledged[each] != truth.unacknowledged[each])
            found.wrong("ledger: {} {} and found, and not {}", said.unacknowledged[each], name,
                        truth.unacknowledged[each]);
    }
}

}  // namespace

void judge_ledger(const evidence& what, const rows_by_message& messages, verdict& found) {
    using namespace postal::ledger;
    std::map<message_number, std::vector<seen_entry>> copies;
    std::int64_t number = 0;
    for (const seen_row& row : what.rows.seen()) {
        if (row.run != apparatus::run) continue;
        seen_entry one;
        one.number = ++number;
        one.observer = 2;
        one.mailbox = row.mailbox;
        one.time_us = static_cast<std::int64_t>(row.time_us);
        one.sent_us = static_cast<std::int64_t>(row.sent_us);
        one.what = row.what;
        one.through = row.through;
        copies[{row.session, row.sequence}].push_back(one);
    }
    observation all_seen;
    all_seen.sinks_until_us = std::numeric_limits<std::int64_t>::max();
    reconciler judge({}, all_seen);
    for (const auto& [message, rows] : messages) {
        message_entry one;
        one.run = 1;
        one.session = static_cast<std::int64_t>(message.first);
        for (const sent_row* row : rows) {
            one.sent.push_back({++number, row->recipient, row->sender, row->what,
                                static_cast<std::int64_t>(row->time_us)});
        }
        one.octets = static_cast<std::int64_t>(rows.front()->octets);
        if (const auto there = copies.find(message); there != copies.end())
            one.seen = std::move(there->second);
        judge.add(one);
    }
    compare(what, messages, judge.result(), found);
}

}  // namespace simulation
