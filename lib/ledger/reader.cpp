// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/reader.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/saturated.hpp"
#include "ledger/joined.hpp"
#include "ledger/recipient_domains.hpp"
#include "ledger/schema.hpp"

namespace postal::ledger {

namespace {

using base::expected;

// A sink that lives moves its horizon each second.
constexpr std::int64_t long_silence_us = 5'000'000;

// A server that does not delete in so long has not; a reader's usual patience.
constexpr std::int64_t removed_within_us = 60'000'000;

using key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // run, session, sequence

// A sorted table that is read row by row.
class cursor {
  public:
    explicit cursor(statement& over) : over_(&over) { advance(); }

    bool at_row() const noexcept { return result_ == SQLITE_ROW; }
    // SQLITE_DONE, or what has failed.
    int result() const noexcept { return result_; }
    key where() const noexcept { return {over_->number(0), over_->number(1), over_->number(2)}; }
    const statement& row() const noexcept { return *over_; }
    void advance() noexcept { result_ = over_->step(); }
    void skip_to(const key& behind) noexcept {
        while (at_row() && where() > behind)
            advance();
    }

  private:
    statement* over_;
    int result_ = SQLITE_ROW;
};

sent_entry sent_at(const statement& row) {
    return {row.number(3), row.number(4), row.number(5), static_cast<outcome>(row.number(6)),
            row.number(7)};
}

seen_entry seen_at(const statement& row) {
    seen_entry result;
    result.number = row.number(3);
    result.observer = row.number(4);
    result.mailbox = row.number(5);
    result.uid = row.number(6);
    result.place = row.number(7);
    result.time_us = row.number(8);
    result.sent_us = row.number(9);
    result.what = static_cast<condition>(row.number(10));
    result.through = static_cast<way>(row.number(11));
    result.server = row.number(12);
    result.uid_validity = row.number(13);
    if (!row.is_null(14)) {
        result.announced_us = row.number(14);
        result.told = static_cast<notice>(row.number(15));
        result.watcher = row.number(16);
    }
    result.arrived_us = row.number(17);
    return result;
}

removed_entry removed_at(const statement& row) {
    removed_entry one{
        row.number(3), row.number(4), row.number(5), row.number(6), static_cast<way>(row.number(7)),
        row.number(8)};
    one.until_us = base::saturated_sum(one.time_us, removed_within_us);
    if (!row.is_null(9))
        one.until_us =
            std::min(one.until_us, base::saturated_sum(row.number(9), clock_difference_us));
    return one;
}

returned_entry returned_at(const statement& row) {
    return {row.number(3), row.number(4), row.number(5), static_cast<action>(row.number(6)),
            short_text(row.text(7))};
}

// All rows of a message have the same.
std::int64_t octets_at(const statement& row) {
    return row.is_null(8) ? size_not_recorded : row.number(8);
}

void forget_servers(message_entry& of) {
    for (seen_entry& one : of.seen)
        one.server = 0;
    for (removed_entry& one : of.removed)
        one.server = 0;
}

// Numbers that only a damaged or tampered ledger has would be used as indexes.
constexpr std::string_view sent_in_order =
    "SELECT run, session, sequence, number, recipient, sender, outcome, time_us, octets FROM sent "
    "WHERE outcome BETWEEN 0 AND 4 ORDER BY run DESC, session DESC, sequence DESC";
constexpr std::string_view removed_in_order =
    "SELECT removed.run, session, sequence, mailbox, server, uid_validity, uid, way, time_us, "
    "ended_us FROM removed LEFT JOIN runs ON runs.id = observer WHERE way BETWEEN 0 AND 3 "
    "ORDER BY removed.run DESC, session DESC, sequence DESC";
constexpr std::string_view returned_in_order =
    "SELECT run, session, sequence, number, recipient, time_us, action, substr(status, 1, 15) "
    "FROM returned WHERE action BETWEEN 0 AND 4 ORDER BY run DESC, session DESC, sequence DESC";
constexpr std::string_view seen_in_order =
    "SELECT run, session, sequence, number, observer, mailbox, uid, place, time_us, sent_us, "
    "condition, way, server, uid_validity, "
    "CASE WHEN notice BETWEEN 0 AND 5 THEN announced_us END, notice, watcher, "
    "coalesce(arrived_us, 0) FROM seen "
    "WHERE run IS NOT NULL AND condition BETWEEN 0 AND 14 "
    "AND way BETWEEN 0 AND 3 ORDER BY run DESC, session DESC, sequence DESC";

}  // namespace

expected<reader> reader::open(const std::string& path) {
    return over(open_to_read(path));
}

expected<reader> reader::open(const std::vector<std::string>& paths) {
    return paths.size() == 1 ? open(paths.front()) : over(join(paths));
}

expected<reader> reader::over(expected<database> file) {
    if (!file) return file.error();
    const int result =
        file->execute("PRAGMA temp_store = FILE; PRAGMA cache_size = -16384; PRAGMA threads = 2");
    if (result != SQLITE_OK) return file->failure(result);
    return reader(std::move(*file));
}

expected<std::vector<reader::numbered_run>> reader::read_runs() {
    auto ask = file_.prepare(
        "SELECT id, run, program, started, role, "
        "strftime('%Y-%m-%dT%H:%M:%SZ', ended_us / 1000000, 'unixepoch'), "
        "strftime('%Y-%m-%dT%H:%M:%SZ', horizon_us / 1000000, 'unixepoch'), "
        "1000000 * CAST(strftime('%s', started) AS INTEGER), horizon_us, "
        "coalesce(notes_visits, 0), coalesce(ended_us, 0) "
        "FROM runs WHERE program IS NOT NULL ORDER BY started, id");
    if (!ask) return ask.error();
    std::vector<numbered_run> result;
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW) {
        const std::string is = ask->text(4);
        numbered_run one;
        one.id = ask->number(0);
        one.started_us = ask->number(7);
        one.horizon_us = ask->number(8);
        one.ended_us = ask->number(10);
        one.row = {.run = ask->text(1),
                   .program = ask->text(2),
                   .started = ask->text(3),
                   .is = is == to_text(role::sink)     ? role::sink
                         : is == to_text(role::reader) ? role::reader
                                                       : role::sender,
                   .ended = ask->text(5),
                   .horizon = ask->text(6)};
        one.row.tells = one.row.is != role::reader || ask->number(9) != 0;
        result.push_back(std::move(one));
    }
    if (step != SQLITE_DONE) return file_.failure(step);
    return result;
}

// A sink that was started when the horizon of another had stood still for long has taken its place:
// what was accepted from then on did not go to the other. A reader without an end has perhaps not
// looked everywhere; one that was started after it, and ended, has.
unfinished_runs reader::open_ends(const std::vector<numbered_run>& runs) {
    unfinished_runs result;
    for (const numbered_run& one : runs) {
        if (!one.row.ended.empty()) continue;
        const std::int64_t horizon =
            base::saturated_difference(one.horizon_us, clock_difference_us);
        const std::int64_t silent = base::saturated_sum(one.horizon_us, long_silence_us);
        if (one.row.is == role::sender) {
            result.senders.emplace(one.id, horizon);
            continue;
        }
        const bool sink = one.row.is == role::sink;
        if (!sink) result.removing.push_back({horizon, silent});
        std::int64_t until = std::numeric_limits<std::int64_t>::max();
        for (const numbered_run& other : runs) {
            const bool later = other.row.is == one.row.is && other.started_us > silent &&
                               (sink || !other.row.ended.empty());
            if (later) until = std::min(until, other.started_us);
        }
        const bool taken_over = until != std::numeric_limits<std::int64_t>::max();
        if (sink) {
            result.unseen.push_back({horizon, until});
        } else if (!taken_over) {
            result.unseen.push_back({std::numeric_limits<std::int64_t>::min(), until});
        }
    }
    return result;
}

expected<answers> reader::reconcile(const questions& wanted) {
    sent_by_run_.clear();
    seen_by_run_.clear();
    file_.limit_reading();  // a ledger that is written to has grown since it was opened
    const int begun = file_.execute("BEGIN");
    if (begun != SQLITE_OK) return file_.failure(begun);
    auto all = read_runs();
    if (!all) return all.error();
    auto seen_from = read_observation(*all, wanted.one_store);
    if (!seen_from) return seen_from.error();
    auto noted = findings::make(file_, wanted.examples > 0 ? std::nullopt : wanted.list);
    if (!noted) return noted.error();
    const bool is_noted = wanted.examples > 0 || wanted.list;
    std::function<void(std::int64_t, std::int64_t)> on_sent;
    if (wanted.list_all)
        on_sent = [&](std::int64_t sent, std::int64_t seen) { noted->note_all(sent, seen); };
    auto domains = recipient_domains::look_up(file_, wanted.domains);
    if (!domains) return domains.error();
    std::function<void(const judgement&)> on_judged;
    if (wanted.on_judged) {
        on_judged = [&](const judgement& one) {
            wanted.on_judged(one, domains->place_of(one.sent->recipient));
        };
    }
    reconciler judge({[&](discrepancy what, std::int64_t sent, std::int64_t seen) {
                          if (is_noted) noted->note(what, sent, seen);
                      },
                      wanted.on_delivery, on_judged, on_sent, wanted.on_told},
                     std::move(*seen_from));
    auto done = judge_strangers(judge);
    if (done) done = judge_all(judge, wanted.one_store, *all);
    if (done) done = noted->result();
    if (done && domains->result() != SQLITE_OK) done = file_.failure(domains->result());
    if (done && wanted.list_all && wanted.on_row)
        done = noted->list_all(judge.readers(), wanted.on_row);
    if (done && wanted.list && wanted.on_row)
        done = noted->list(*wanted.list, std::numeric_limits<std::int64_t>::max(), judge.readers(),
                           wanted.on_row);
    answers result;
    if (done && wanted.examples > 0) {
        auto where = noted->break_down(wanted.examples, judge.readers());
        if (where)
            result.where = std::move(*where);
        else
            done = where.error();
    }
    result.totals = judge.result();
    if (done) done = name_unread(judge, result);
    if (done && result.totals.same_on_two_servers > 0) done = name_servers(result);
    file_.execute("COMMIT");
    if (!done) return done.error();
    for (numbered_run& one : *all) {
        one.row.sent = sent_by_run_[one.id];
        one.row.seen = seen_by_run_[one.id];
        result.runs.push_back(std::move(one.row));
    }
    return result;
}

expected<std::vector<std::string>> reader::largest_domains(std::size_t most) {
    return ledger::largest_domains(file_, most);
}

expected<std::vector<std::string>> reader::addresses(const std::vector<std::int64_t>& numbers) {
    auto ask = file_.prepare("SELECT address FROM addresses WHERE id = ?1");
    if (!ask) return ask.error();
    std::vector<std::string> found;
    for (const std::int64_t number : numbers) {
        ask->bind(1, number);
        const int step = ask->step();
        if (step != SQLITE_ROW && step != SQLITE_DONE) return file_.failure(step);
        found.push_back(step == SQLITE_ROW ? ask->text(0) : std::string());
        ask->reset();
    }
    return found;
}

expected<void> reader::judge_strangers(reconciler& judge) {
    auto ask = file_.prepare(
        "SELECT condition, number, observer FROM seen "
        "WHERE run IS NULL AND condition BETWEEN 2 AND 14");
    if (!ask) return ask.error();
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW) {
        ++seen_by_run_[ask->number(2)];
        judge.add_stranger(static_cast<condition>(ask->number(0)), ask->number(1));
    }
    if (step != SQLITE_DONE) return file_.failure(step);
    return {};
}

// A run that messages were sent of, and that no program wrote down as its own, is a population.
expected<void> reader::judge_all(reconciler& judge, bool one_store,
                                 const std::vector<numbered_run>& runs) {
    std::unordered_set<std::int64_t> programs;
    for (const numbered_run& each : runs)
        programs.insert(each.id);
    auto ask_sent = file_.prepare(sent_in_order);
    if (!ask_sent) return ask_sent.error();
    auto ask_seen = file_.prepare(seen_in_order);
    if (!ask_seen) return ask_seen.error();
    auto ask_removed = file_.prepare(removed_in_order);
    if (!ask_removed) return ask_removed.error();
    auto ask_returned = file_.prepare(returned_in_order);
    if (!ask_returned) return ask_returned.error();
    cursor sent(*ask_sent);
    cursor seen(*ask_seen);
    cursor removed(*ask_removed);
    cursor returned(*ask_returned);
    message_entry one;
    while (sent.at_row() || seen.at_row()) {
        const bool seen_alone = !sent.at_row() || (seen.at_row() && seen.where() > sent.where());
        const key where = seen_alone ? seen.where() : sent.where();
        one.run = std::get<0>(where);
        one.session = std::get<1>(where);
        one.population = !programs.contains(one.run);
        one.octets = seen_alone ? size_not_recorded : octets_at(sent.row());
        one.sent.clear();
        one.seen.clear();
        one.removed.clear();
        one.returned.clear();
        for (; sent.at_row() && sent.where() == where; sent.advance())
            one.sent.push_back(sent_at(sent.row()));
        for (; seen.at_row() && seen.where() == where; seen.advance())
            one.seen.push_back(seen_at(seen.row()));
        removed.skip_to(where);
        for (; removed.at_row() && removed.where() == where; removed.advance())
            one.removed.push_back(removed_at(removed.row()));
        returned.skip_to(where);
        for (; returned.at_row() && returned.where() == where; returned.advance())
            one.returned.push_back(returned_at(returned.row()));
        if (one_store) forget_servers(one);
        sent_by_run_[one.run] += one.sent.size();
        for (const seen_entry& each : one.seen)
            ++seen_by_run_[each.observer];
        judge.add(one);
    }
    for (cursor* each : {&removed, &returned}) {
        while (each->at_row())
            each->advance();
    }
    for (const cursor* each : {&sent, &seen, &removed, &returned}) {
        if (each->result() != SQLITE_DONE) return file_.failure(each->result());
    }
    return {};
}

}  // namespace postal::ledger
