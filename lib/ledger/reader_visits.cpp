// SPDX-License-Identifier: GPL-3.0-or-later
// What the reader of a ledger takes from its visits: where messages were looked for, and, in words,
// where they were not.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/saturated.hpp"
#include "ledger/reader.hpp"

namespace postal::ledger {

using base::expected;

// A run that only sends may stand for one that looked, where a ledger was made by hand.
expected<observation> reader::read_observation(const std::vector<numbered_run>& runs,
                                               bool one_store) {
    observation result;
    result.open = open_ends(runs);
    bool anybody = false;
    for (const numbered_run& one : runs) {
        anybody = anybody || one.row.is != role::sender;
        result.untold = result.untold || !one.row.tells;
        if (one.row.is != role::sink) continue;
        const std::int64_t until = one.row.ended.empty()
                                       ? std::numeric_limits<std::int64_t>::max()
                                       : base::saturated_sum(one.ended_us, clock_difference_us);
        result.sinks_until_us = std::max(result.sinks_until_us, until);
    }
    if (!anybody) {
        const auto seen = file_.number("SELECT EXISTS(SELECT 1 FROM seen)");
        if (!seen) return seen.error();
        result.untold = *seen != 0;
    }
    auto read = read_visits(result.readers, one_store);
    if (read) read = read_waits(result.who_waited, one_store);
    if (!read) return read.error();
    return result;
}

expected<void> reader::read_visits(coverage& into, bool one_store) {
    // Times that no clock shows would leave the range of sums.
    auto ask = file_.prepare(
        "SELECT mailbox, server, way, extent, began_us, ended_us, reason, observer "
        "FROM visits "
        "WHERE way BETWEEN 0 AND 3 AND extent BETWEEN 0 AND 3 "
        "AND began_us BETWEEN 0 AND 4000000000000000000 "
        "AND ended_us BETWEEN 0 AND 4000000000000000000 ORDER BY mailbox");
    if (!ask) return ask.error();
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW) {
        visit_entry one;
        one.mailbox = ask->number(0);
        one.server = one_store ? 0 : ask->number(1);
        one.through = static_cast<way>(ask->number(2));
        one.what = static_cast<extent>(ask->number(3));
        one.began_us = ask->number(4);
        one.ended_us = ask->number(5);
        one.reason = ask->text(6);
        one.observer = ask->number(7);
        into.add(std::move(one));
    }
    if (step != SQLITE_DONE) return file_.failure(step);
    into.finish();
    return {};
}

expected<void> reader::read_waits(waits& into, bool one_store) {
    auto ask = file_.prepare(
        "SELECT mailbox, number, observer, session, server, waiting, opened_us, began_us, ended_us "
        "FROM waits WHERE waiting BETWEEN 0 AND ?1 ORDER BY mailbox");
    if (!ask) return ask.error();
    ask->bind_all(std::int64_t{waiting_count - 1});
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW) {
        into.add(ask->number(0), {.number = ask->number(1),
                                  .observer = ask->number(2),
                                  .session = ask->number(3),
                                  .server = one_store ? 0 : ask->number(4),
                                  .opened_us = ask->number(6),
                                  .began_us = ask->number(7),
                                  .ended_us = ask->number(8),
                                  .how = static_cast<waiting>(ask->number(5))});
    }
    if (step != SQLITE_DONE) return file_.failure(step);
    into.finish();
    return {};
}

expected<void> reader::name_unread(const reconciler& judge, answers& into) {
    std::vector<std::pair<std::int64_t, std::uint64_t>> all(judge.not_looked_for().begin(),
                                                            judge.not_looked_for().end());
    into.unread_mailboxes = all.size();
    const auto most = std::min(all.size(), answers::most_unread);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                      [](const auto& a, const auto& b) {
                          return std::make_pair(b.second, a.first) <
                                 std::make_pair(a.second, b.first);
                      });
    all.resize(most);
    auto ask = file_.prepare("SELECT address FROM addresses WHERE id = ?1");
    if (!ask) return ask.error();
    for (const auto& [mailbox, messages] : all) {
        ask->bind(1, mailbox);
        const int step = ask->step();
        if (step != SQLITE_ROW && step != SQLITE_DONE) return file_.failure(step);
        into.unread.push_back({step == SQLITE_ROW ? ask->text(0) : std::string(),
                               judge.readers().reason(mailbox), messages});
        ask->reset();
    }
    return {};
}

expected<void> reader::name_servers(answers& into) {
    constexpr std::size_t most = 8;
    auto ask = file_.prepare(
        "SELECT address FROM addresses WHERE id IN (SELECT server FROM visits "
        "UNION SELECT server FROM seen) ORDER BY id");
    if (!ask) return ask.error();
    int step = SQLITE_ROW;
    while (into.servers.size() < most && (step = ask->step()) == SQLITE_ROW)
        into.servers.push_back(ask->text(0));
    if (step != SQLITE_DONE && step != SQLITE_ROW) return file_.failure(step);
    return {};
}

}  // namespace postal::ledger
