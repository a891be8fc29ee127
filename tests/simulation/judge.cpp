// SPDX-License-Identifier: GPL-3.0-or-later
#include "judge.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

#include "judgements.hpp"

namespace simulation {

namespace {

using postal::ledger::outcome;
using postal::ledger::sent_row;

// Of an open loop what is due when the run stops is begun, and nothing else.
void judge_stop(const evidence& what, verdict& found) {
    const scenario& of = what.of;
    if (!of.open_loop || of.poisson || !of.stop_gently || of.stop_now) return;
    const double due = std::chrono::duration<double>(*of.stop_gently).count() * of.rate;
    const double inexact = 1e-9 * due + 1e-8 * of.rate;  // what is due at that very moment
    const auto at_most = [&of](double messages) {
        return std::min(static_cast<std::uint64_t>(std::ceil(std::max(messages, 0.0))),
                        of.messages);
    };
    const std::uint64_t started = what.senders.started;
    if (started < at_most(due - inexact) || started > at_most(due + inexact))
        found.wrong("{} messages were started, of {:.6f} that were due at the stop", started, due);
}

void judge_sums(const evidence& what, verdict& found) {
    for (const auto& [who, counts] :
         {std::pair("sender", &what.senders), std::pair("servers", &what.servers)}) {
        const std::uint64_t ended = counts->messages + counts->rejected + counts->deferred +
                                    counts->failed + counts->in_doubt;
        if (counts->started != ended)
            found.wrong("of the {}: {} messages were started and {} ended", who, counts->started,
                        ended);
    }
    const postal::stats::tally& sender = what.senders;
    const bool stops = what.of.stop_gently || what.of.stop_now;
    if (!stops) found.equal("messages started", sender.started, what.of.messages);
    judge_stop(what, found);
    if (what.of.open_loop) found.equal("due", sender.due, sender.started + sender.not_started);
    found.equal("messages that waited in vain", sender.unserved.count(),
                sender.started - sender.messages + sender.not_started);
    if (sender.started > what.of.messages)
        found.wrong("{} messages were started, of {}", sender.started, what.of.messages);
}

void judge_rows(const evidence& what, const rows_by_message& messages, verdict& found) {
    std::array<std::uint64_t, 5> counted{};
    std::map<std::uint64_t, std::uint64_t> next;  // sequence, by session
    std::uint64_t recipients = 0;
    std::uint64_t octets = 0;
    for (const auto& [number, all] : messages) {
        std::vector<postal::ledger::address_id> to;
        for (const sent_row* one : all) {
            to.push_back(one->recipient);
            if (one->counted) ++counted[static_cast<std::size_t>(one->what)];
            if (one->what != outcome::accepted) continue;
            ++recipients;
            octets += one->counted ? one->octets : 0;
        }
        std::sort(to.begin(), to.end());
        if (std::adjacent_find(to.begin(), to.end()) != to.end())
            found.wrong("message {}.{} has ended twice for a recipient", number.first,
                        number.second);
        next[number.first] = std::max(next[number.first], number.second + 1);
    }
    for (const auto& [session, last] : next) {
        for (std::uint64_t sequence = 0; sequence < last; ++sequence) {
            if (!messages.contains({session, sequence}))
                found.wrong("message {}.{} has no row", session, sequence);
        }
    }
    const postal::stats::tally& sender = what.senders;
    found.equal("rows that count as accepted", counted[0], sender.messages);
    found.equal("rows that count as rejected", counted[1], sender.rejected);
    found.equal("rows that count as deferred", counted[2], sender.deferred);
    found.equal("rows that count as failed", counted[3], sender.failed);
    found.equal("rows that count as in doubt", counted[4], sender.in_doubt);
    found.equal("recipients that accepted", sender.recipients, recipients);
    found.equal("octets that were accepted", sender.bytes, octets);
}

}  // namespace

void judge_counts(const evidence& what, const rows_by_message& rows, verdict& found) {
    judge_sums(what, found);
    judge_rows(what, rows, found);
}

std::vector<std::string> judge(const evidence& what) {
    rows_by_message rows;
    for (const sent_row& row : what.rows.sent())
        rows[{row.session, row.sequence}].push_back(&row);
    verdict found;
    judge_counts(what, rows, found);
    const std::vector<std::int64_t> service_ns = judge_outcomes(what, rows, found);
    judge_servers(what, found);
    judge_times(what, rows, service_ns, found);
    judge_ledger(what, rows, found);
    return found.take();
}

}  // namespace simulation
