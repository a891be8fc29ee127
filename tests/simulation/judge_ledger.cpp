// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "apparatus.hpp"
#include "judgements.hpp"
#include "ledger/reconciler.hpp"
#include "sink.hpp"

namespace simulation {

namespace {

using postal::ledger::address_id;
using postal::ledger::outcome;
using postal::ledger::sent_row;
using postal::ledger::summary;

// ---- the truth ----

// Of a message in a mailbox, as far as anybody has seen it.
struct sighted {
    std::uint64_t copies = 0;
    std::uint64_t corrupt = 0;
    bool vanished = false;
};
using sighted_by_mailbox = std::map<address_id, sighted>;
using all_sighted = std::map<message_number, sighted_by_mailbox>;

// Of what came with an identity of ours.
all_sighted seen_by_sinks(const evidence& what) {
    all_sighted there;
    for (const connection_record& line : what.connections) {
        for (std::size_t which = 0; which < line.served.size(); ++which) {
            const served_transaction& served = line.served[which];
            if (served.foreign) continue;
            const std::uint64_t session = line.line.number().session;
            std::optional<harm> how = harm_of(what.of, session, line.sequence_of(which));
            for (const std::string& mailbox : served.delivered) {
                const std::string_view to = how == harm::elsewhere ? somebody_else : mailbox;
                sighted& one = there[{session, served.sequence}][what.rows.address(to)];
                const std::uint64_t copies = how == harm::lost ? 0 : how == harm::twice ? 2 : 1;
                one.copies += copies;
                one.corrupt += served.changed ? copies : 0;
                how.reset();
            }
        }
    }
    return there;
}

// What is there in a mailbox, by what one protocol shows of it: the most of it counts. It has
// vanished when all was read after it was seen last, and more copies are gone than readers removed.
class read_copies {
  public:
    void add(const mailboxes::copy& one) {
        for (const auto& [through, when] : one.read) {
            sighted& by = by_way_[through == postal::ledger::way::imap ? 1 : 0];
            ++by.copies;
            by.corrupt += postal::ledger::is_corrupt(one.what.what) ? 1 : 0;
            last_ = std::max(last_, when);
        }
        removed_ += one.removed ? 1 : 0;
    }
    [[nodiscard]] sighted all(steady_time read_whole) const {
        sighted made{std::max(by_way_[0].copies, by_way_[1].copies),
                     std::max(by_way_[0].corrupt, by_way_[1].corrupt)};
        made.vanished = wall_us(read_whole) > wall_us(last_) && removed_ < made.copies;
        return made;
    }

  private:
    sighted by_way_[2];
    std::uint64_t removed_ = 0;
    steady_time last_{};
};

all_sighted seen_by_readers(const evidence& what) {
    all_sighted there;
    for (const auto& [mailbox, all] : what.store.all()) {
        std::map<message_number, read_copies> of_messages;
        for (const mailboxes::copy& one : all)
            if (one.what.run == apparatus::run)
                of_messages[{one.what.session, one.what.sequence}].add(one);
        for (const auto& [message, copies] : of_messages)
            there[message][mailbox] = copies.all(what.store.read_whole(mailbox));
    }
    return there;
}

bool has_readers(const evidence& what) {
    return !what.of.visits.empty();
}

bool looked_for(const evidence& what, const sent_row& row) {
    if (!has_readers(what)) return true;
    return what.store.visited(row.recipient) &&
           wall_us(what.store.read_whole(row.recipient)) >= row.time_us;
}

summary true_summary(const evidence& what, const rows_by_message& messages) {
    all_sighted there = has_readers(what) ? seen_by_readers(what) : seen_by_sinks(what);
    const auto elsewhere = what.rows.address(somebody_else);
    summary truth;
    for (const auto& [message, by_mailbox] : there)
        for (const auto& [mailbox, one] : by_mailbox)
            truth.corrupt[0] += one.corrupt;
    for (const auto& [message, rows] : messages) {
        sighted_by_mailbox& seen = there[message];
        std::map<address_id, const sent_row*> missing;  // by recipient
        for (const sent_row* row : rows) {
            const sighted& one = seen[row->recipient];
            const bool accepted = row->what == outcome::accepted;
            ++truth.sent[static_cast<std::size_t>(row->what)];
            truth.duplicated += one.copies > 1 ? 1 : 0;
            if (one.copies == 0 && accepted) missing[row->recipient] = row;
            if (one.copies == 0) continue;
            if (accepted)
                ++(one.vanished ? truth.vanished : truth.found);
            else
                ++truth.unacknowledged[static_cast<std::size_t>(row->what)];
        }
        std::uint64_t strays = seen[elsewhere].copies > 0 ? 1 : 0;
        truth.misdelivered += strays;
        for (const auto& [recipient, row] : missing) {
            if (strays > 0) {
                --strays;
                ++truth.misplaced;
            } else {
                ++(looked_for(what, *row) ? truth.lost : truth.not_looked_for);
            }
        }
    }
    return truth;
}

// ---- what the ledger says ----

postal::ledger::observation observation_of(const evidence& what) {
    postal::ledger::observation made;
    if (!has_readers(what)) {
        made.sinks_until_us = std::numeric_limits<std::int64_t>::max();
        return made;
    }
    auto visits = what.store.visits();
    std::stable_sort(visits.begin(), visits.end(),
                     [](const auto& a, const auto& b) { return a.mailbox < b.mailbox; });
    for (const postal::ledger::visit_entry& one : visits)
        made.readers.add(one);
    made.readers.finish();
    return made;
}

std::map<message_number, std::vector<postal::ledger::seen_entry>> sightings(const evidence& what,
                                                                            std::int64_t& number) {
    std::map<message_number, std::vector<postal::ledger::seen_entry>> made;
    for (const postal::ledger::seen_row& row : what.rows.seen()) {
        if (row.run != apparatus::run) continue;
        postal::ledger::seen_entry one;
        one.number = ++number;
        one.observer = 2;
        one.mailbox = row.mailbox;
        one.server = row.server;
        one.uid = static_cast<std::int64_t>(row.uid);
        one.uid_validity = row.uid_validity;
        one.place = static_cast<std::int64_t>(row.place);
        one.time_us = static_cast<std::int64_t>(row.time_us);
        one.sent_us = static_cast<std::int64_t>(row.sent_us);
        one.what = row.what;
        one.through = row.through;
        made[{row.session, row.sequence}].push_back(one);
    }
    return made;
}

summary reconciled(const evidence& what, const rows_by_message& messages) {
    std::int64_t number = 0;
    auto copies = sightings(what, number);
    postal::ledger::reconciler judge({}, observation_of(what));
    for (const auto& [message, rows] : messages) {
        postal::ledger::message_entry one;
        one.run = 1;
        one.session = static_cast<std::int64_t>(message.first);
        for (const sent_row* row : rows) {
            one.sent.push_back({++number, row->recipient, row->sender, row->what,
                                static_cast<std::int64_t>(row->time_us)});
        }
        one.octets = static_cast<std::int64_t>(rows.front()->octets);
        if (const auto there = copies.find(message); there != copies.end())
            one.seen = std::move(there->second);
        const auto gone = what.store.removed().find(message);
        if (gone != what.store.removed().end()) one.removed = gone->second;
        judge.add(one);
    }
    return judge.result();
}

}  // namespace

// What the scenario has done to accepted mail, and nothing else, is what the ledger is to say.
void judge_ledger(const evidence& what, const rows_by_message& messages, verdict& found) {
    const summary said = reconciled(what, messages);
    const summary truth = true_summary(what, messages);
    found.equal("ledger: accepted", said.acknowledged(), truth.acknowledged());
    found.equal("ledger: found", said.found, truth.found);
    found.equal("ledger: vanished", said.vanished, truth.vanished);
    found.equal("ledger: lost", said.lost, truth.lost);
    found.equal("ledger: not looked for", said.not_looked_for, truth.not_looked_for);
    found.equal("ledger: duplicated", said.duplicated, truth.duplicated);
    found.equal("ledger: corrupt", said.all_corrupt(), truth.corrupt[0]);
    found.equal("ledger: misdelivered", said.misdelivered, truth.misdelivered);
    found.equal("ledger: misplaced", said.misplaced, truth.misplaced);
    // Who reads some now and some later sees them in any order.
    if (!has_readers(what))
        found.equal("ledger: out of order", said.out_of_order, std::uint64_t{0});
    found.equal("ledger: seen before it was sent", said.seen_before_sent, std::uint64_t{0});
    for (std::size_t each = 0; each < truth.sent.size(); ++each) {
        const std::string_view name = to_text(static_cast<outcome>(each));
        if (said.unacknowledged[each] != truth.unacknowledged[each])
            found.wrong("ledger: {} {} and found, and not {}", said.unacknowledged[each], name,
                        truth.unacknowledged[each]);
    }
}

}  // namespace simulation
