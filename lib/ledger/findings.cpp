// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace postal::ledger {

namespace {

using base::expected;

constexpr std::size_t place_of(discrepancy what) {
    return static_cast<std::size_t>(what);
}

// Of a message that is in no row of `sent` its copy says whose and when it is.
std::string found_rows() {
    return fmt::format(
        "FROM findings f LEFT JOIN main.sent s ON s.number = f.sent "
        "LEFT JOIN seen o ON o.number = f.seen AND f.kind NOT IN ({0}, {1}) "
        "LEFT JOIN waits w ON w.number = f.seen AND f.kind = {1}",
        place_of(discrepancy::bounced), place_of(discrepancy::missed));
}

// "sum(kind = 0), sum(kind = 1), ..."
std::string sums() {
    std::string made;
    for (std::size_t kind = 0; kind < discrepancy_count; ++kind)
        made += fmt::format("{}sum(kind = {})", kind == 0 ? "" : ", ", kind);
    return made;
}

// Broken promises count first.
std::string gravest_first() {
    return fmt::format("ORDER BY sum(kind IN ({}, {}, {}, {})) DESC, count(*) DESC, who",
                       place_of(discrepancy::lost), place_of(discrepancy::vanished),
                       place_of(discrepancy::misplaced), place_of(discrepancy::corrupt));
}

// Of columns from `first` on.
discrepancy_counts counts_at(const statement& row, int first) {
    discrepancy_counts made{};
    for (std::size_t kind = 0; kind < made.size(); ++kind)
        made[kind] = static_cast<std::uint64_t>(row.number(first + static_cast<int>(kind)));
    return made;
}

constexpr std::array sent_columns{&discrepancy_row::run,       &discrepancy_row::session,
                                  &discrepancy_row::sequence,  &discrepancy_row::sender,
                                  &discrepancy_row::recipient, &discrepancy_row::outcome,
                                  &discrepancy_row::code,      &discrepancy_row::enhanced,
                                  &discrepancy_row::ended,     &discrepancy_row::octets};
constexpr std::array seen_columns{&discrepancy_row::run,       &discrepancy_row::session,
                                  &discrepancy_row::sequence,  &discrepancy_row::mailbox,
                                  &discrepancy_row::condition, &discrepancy_row::detail,
                                  &discrepancy_row::seen,      &discrepancy_row::way};

// Times that no clock shows would leave the range of sums.
constexpr std::int64_t latest_us = 4'000'000'000'000'000'000;

// The least width that people count time in, of which so many cover the span.
std::int64_t width_of(std::int64_t span_us, std::size_t most) {
    constexpr std::array<std::int64_t, 15> steps_s{1,   2,   5,    10,   15,    30,    60,    120,
                                                   300, 600, 1800, 3600, 21600, 86400, 604800};
    const auto enough = [&](std::int64_t width_us) {
        return span_us / width_us < static_cast<std::int64_t>(most);
    };
    for (const std::int64_t step : steps_s)
        if (enough(step * 1'000'000)) return step * 1'000'000;
    std::int64_t width_us = steps_s.back() * 1'000'000;
    while (!enough(width_us))
        width_us *= 2;
    return width_us;
}

}  // namespace

expected<findings> findings::make(database& file, std::optional<discrepancy> only) {
    const int made = file.execute(
        "CREATE TEMP TABLE IF NOT EXISTS findings(kind INTEGER, sent INTEGER, seen INTEGER); "
        "DELETE FROM findings");
    if (made != SQLITE_OK) return file.failure(made);
    auto note = file.prepare("INSERT INTO findings VALUES(?1, ?2, ?3)");
    if (!note) return note.error();
    return findings(file, only, std::move(*note));
}

void findings::note(discrepancy what, std::int64_t sent, std::int64_t seen) {
    if (only_ && what != *only_) return;
    if (noted_ == SQLITE_OK) ++counts_[place_of(what)];
    put(static_cast<std::int64_t>(what), sent, seen);
}

void findings::put(std::int64_t kind, std::int64_t sent, std::int64_t seen) {
    if (noted_ != SQLITE_OK) return;
    note_.bind_all(kind, sent, seen);
    noted_ = note_.run();
}

expected<void> findings::result() const {
    if (noted_ != SQLITE_OK) return file_->failure(noted_);
    return {};
}

expected<void> findings::list(discrepancy what, std::uint64_t most, const coverage& readers,
                              const std::function<void(const discrepancy_row&)>& on_row) {
    return list_noted(static_cast<std::int64_t>(what), most, readers, on_row);
}

expected<void> findings::list_all(const coverage& readers,
                                  const std::function<void(const discrepancy_row&)>& on_row) {
    return list_noted(all_messages, std::numeric_limits<std::int64_t>::max(), readers, on_row);
}

// What both tables of messages say of one, each by its number: a view that is joined would be made
// whole, for all messages, first.
//
// Why a message was not looked for stands where a copy's condition would; of one that came back the
// notification stands in the copy's place, and so does the session that missed one.
expected<void> findings::list_noted(std::int64_t kind, std::uint64_t most, const coverage& readers,
                                    const std::function<void(const discrepancy_row&)>& on_row) {
    const auto is = [kind](discrepancy what) { return kind == static_cast<std::int64_t>(what); };
    auto ask = file_->prepare(
        "SELECT f.sent, f.seen, s.recipient FROM findings f LEFT JOIN main.sent s ON s.number = "
        "f.sent "
        "WHERE f.kind = ?1 ORDER BY f.sent, f.seen LIMIT ?2");
    if (!ask) return ask.error();
    auto sent = file_->prepare(
        "SELECT run, session, sequence, sender, recipient, outcome, code, enhanced, time, octets "
        "FROM sent_messages WHERE number = ?1");
    if (!sent) return sent.error();
    std::string_view copy =
        "SELECT run, session, sequence, mailbox, condition, detail, time, way "
        "FROM seen_messages WHERE number = ?1";
    if (is(discrepancy::bounced))
        copy =
            "SELECT run, session, sequence, mailbox, action, "
            "trim(coalesce(status, '') || ' ' || coalesce(detail, '')), time, way "
            "FROM returned_messages WHERE number = ?1";
    if (is(discrepancy::missed))
        copy =
            "SELECT '', '', '', mailbox, 'not_announced', 'session ' || session || ' of ' || "
            "observer || CASE waiting WHEN 'by_notify' THEN ' was to be told by NOTIFY at ' "
            "ELSE ' was in IDLE at ' END || server || ' from ' || began || ' on', ended, way "
            "FROM mailbox_waits WHERE number = ?1";
    auto seen = file_->prepare(copy);
    if (!seen) return seen.error();
    ask->bind_all(kind, most);
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW) {
        discrepancy_row row;
        const auto was_seen = fill(row, *seen, ask->number(1), seen_columns);
        if (!was_seen) return was_seen.error();
        const auto was_sent = fill(row, *sent, ask->number(0), sent_columns);
        if (!was_sent) return was_sent.error();
        if (is(discrepancy::not_looked_for)) row.detail = readers.reason(ask->number(2));
        on_row(row);
    }
    if (step != SQLITE_DONE) return file_->failure(step);
    return {};
}

// The row with that number, of which there may be none.
expected<void> findings::fill(discrepancy_row& row, statement& from, std::int64_t number,
                              std::span<std::string discrepancy_row::*const> columns) {
    from.bind(1, number);
    const int step = from.step();
    if (step != SQLITE_ROW && step != SQLITE_DONE) return file_->failure(step);
    for (std::size_t each = 0; step == SQLITE_ROW && each < columns.size(); ++each)
        row.*columns[each] = from.text(static_cast<int>(each));
    from.reset();
    return {};
}

expected<breakdown> findings::break_down(std::uint64_t most_examples, const coverage& readers) {
    breakdown made;
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
        if (counts_[kind] == 0) continue;
        auto& of = made.examples.emplace_back();
        of.what = static_cast<discrepancy>(kind);
        of.count = counts_[kind];
        const auto listed = list(of.what, most_examples, readers,
                                 [&](const discrepancy_row& row) { of.rows.push_back(row); });
        if (!listed) return listed.error();
    }
    if (made.examples.empty()) return made;
    const auto accounts =
        file_->number("SELECT count(DISTINCT coalesce(s.recipient, o.mailbox)) " + found_rows());
    if (!accounts) return accounts.error();
    made.all_accounts = static_cast<std::uint64_t>(*accounts);
    for (const auto& done :
         {count_places("coalesce(s.recipient, o.mailbox)", made.accounts),
          count_places("coalesce(o.server, w.server)", made.servers), count_times(made)})
        if (!done) return done.error();
    return made;
}

expected<void> findings::count_places(std::string_view who, std::vector<counted_place>& into) {
    auto ask = file_->prepare(fmt::format(
        "SELECT (SELECT address FROM addresses WHERE id = who), {} FROM (SELECT f.kind, {} AS who "
        "{}) GROUP BY who {} LIMIT {}",
        sums(), who, found_rows(), gravest_first(), breakdown::most_places));
    if (!ask) return ask.error();
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW)
        into.push_back({ask->text(0), counts_at(*ask, 1)});
    if (step != SQLITE_DONE) return file_->failure(step);
    return {};
}

expected<void> findings::count_times(breakdown& into) {
    const std::string acknowledged =
        fmt::format("FROM sent WHERE outcome = {} AND time_us BETWEEN 0 AND {}",
                    static_cast<int>(outcome::accepted), latest_us);
    const auto first = file_->number("SELECT coalesce(min(time_us), -1) " + acknowledged);
    if (!first) return first.error();
    if (*first < 0) return {};
    const auto last = file_->number("SELECT max(time_us) " + acknowledged);
    if (!last) return last.error();
    into.width_us = width_of(*last - *first, breakdown::most_times);
    const std::int64_t from_us = *first;
    const auto slices = static_cast<std::size_t>((*last - from_us) / into.width_us) + 1;
    auto name = file_->prepare("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', ?1 / 1000000, 'unixepoch')");
    if (!name) return name.error();
    for (std::size_t at = 0; at < slices; ++at) {
        name->bind(1, from_us + static_cast<std::int64_t>(at) * into.width_us);
        name->step();
        into.times.push_back({.from = name->text(0)});
        name->reset();
    }
    auto ask =
        file_->prepare(fmt::format("SELECT (time_us - {}) / {} AS at, count(*) {} GROUP BY at",
                                   from_us, into.width_us, acknowledged));
    if (!ask) return ask.error();
    int step = SQLITE_ROW;
    while ((step = ask->step()) == SQLITE_ROW)
        into.times.at(static_cast<std::size_t>(ask->number(0))).acknowledged =
            static_cast<std::uint64_t>(ask->number(1));
    if (step != SQLITE_DONE) return file_->failure(step);
    // What was sent or seen before the first reply, or after the last, belongs to that one's
    // stretch.
    ask = file_->prepare(fmt::format(
        "SELECT (max({0}, min({1}, at_us)) - {0}) / {2} AS at, {3} FROM (SELECT f.kind, "
        "coalesce(s.time_us, o.time_us) AS at_us {4}) GROUP BY at",
        from_us, *last, into.width_us, sums(), found_rows()));
    if (!ask) return ask.error();
    while ((step = ask->step()) == SQLITE_ROW)
        into.times.at(static_cast<std::size_t>(ask->number(0))).found = counts_at(*ask, 1);
    if (step != SQLITE_DONE) return file_->failure(step);
    return {};
}

}  // namespace postal::ledger
