// SPDX-License-Identifier: GPL-3.0-or-later
// What a missing message is called: lost, where its mailbox was read completely since; else nobody
// has looked for it. And what was seen, and is there no more.
#include "ledger/coverage.hpp"

#include <array>

#include "book.hpp"

using namespace ledger_test;

namespace {

constexpr std::int64_t second = 1'000'000;

struct visit {
    const char* server;
    way through;
    extent what;
    std::int64_t began_s;
    std::int64_t ended_s;
};

coverage coverage_of(const std::vector<visit>& all) {
    coverage result;
    for (const visit& one : all) {
        result.add({.mailbox = 7,
                    .server = one.server[0],
                    .through = one.through,
                    .what = one.what,
                    .began_us = one.began_s * second,
                    .ended_us = one.ended_s * second,
                    .reason = one.what == extent::complete ? "" : "because"});
    }
    result.finish();
    return result;
}

// A ledger with a reader, run 2, that notes its visits.
class read_book {
  public:
    explicit read_book(const std::string& path, bool notes = true) : path_(path) {
        run_entry reader = run_of(2, "rabid");
        reader.is = role::reader;
        reader.notes_visits = notes;
        auto sent = open(path, run_of(1));
        row_buffer sender(*sent);
        for (const auto& [sequence, to] :
             std::array<std::pair<unsigned, const char*>, 3>{{{0, "a"}, {1, "a"}, {2, "b"}}}) {
            sent_row row;
            row.sequence = sequence;
            row.recipient = sender.address(to);
            row.sender = sender.address("from");
            row.time_us = 100 * second;
            sender.add(row);
        }
        sender.flush();
        writer_ = open(path, reader);
        rows_ = std::make_unique<row_buffer>(*writer_);
    }

    read_book& visit(const std::string& mailbox, extent what, std::int64_t began_s,
                     const std::string& reason = {}) {
        visit_row row;
        row.mailbox = rows_->address(mailbox);
        row.server = rows_->address("one");
        row.what = what;
        row.began_us = static_cast<std::uint64_t>(began_s * second);
        row.ended_us = row.began_us + second;
        row.reason = reason;
        rows_->add(row);
        return *this;
    }
    read_book& seen(std::uint64_t sequence, const std::string& mailbox, std::int64_t at_s,
                    std::uint64_t uid) {
        seen_row row;
        row.run = 1;
        row.sequence = sequence;
        row.mailbox = rows_->address(mailbox);
        row.server = rows_->address("one");
        row.through = way::pop3;
        row.uid = uid;
        row.time_us = static_cast<std::uint64_t>(at_s * second);
        row.sent_us = row.time_us;
        rows_->add(row);
        return *this;
    }
    read_book& removed(std::uint64_t sequence, const std::string& mailbox, std::int64_t at_s,
                       std::uint64_t uid) {
        removed_row row;
        row.run = 1;
        row.sequence = sequence;
        row.mailbox = rows_->address(mailbox);
        row.server = rows_->address("one");
        row.uid = uid;
        row.time_us = static_cast<std::uint64_t>(at_s * second);
        rows_->add(row);
        return *this;
    }
    told report(discrepancy list = discrepancy::not_looked_for) {
        rows_.reset();
        if (writer_) REQUIRE(writer_->close().has_value());
        writer_.reset();
        return ledger_test::report(path_, list);
    }

  private:
    std::string path_;
    std::unique_ptr<writer> writer_;
    std::unique_ptr<row_buffer> rows_;
};

}  // namespace

TEST_CASE("coverage: a mailbox was read when, over one protocol, each of its stores was") {
    struct row {
        std::string what;
        std::vector<visit> visits;
        std::int64_t until_s;  // -1: never
    };
    const row rows[]{
        {"one reading", {{"a", way::pop3, extent::complete, 5, 6}}, 5},
        {"the latest counts",
         {{"a", way::pop3, extent::complete, 9, 10}, {"a", way::pop3, extent::complete, 5, 6}},
         9},
        {"part of it", {{"a", way::pop3, extent::partly, 5, 6}}, -1},
        {"nobody was let in", {{"a", way::pop3, extent::nothing, 5, 6}}, -1},
        {"part of it later",
         {{"a", way::pop3, extent::complete, 5, 6}, {"a", way::pop3, extent::partly, 9, 9}},
         5},
        {"two stores, the older reading counts",
         {{"a", way::imap, extent::complete, 9, 9}, {"b", way::imap, extent::complete, 5, 5}},
         5},
        {"two stores, one read in part",
         {{"a", way::imap, extent::complete, 9, 9}, {"b", way::imap, extent::partly, 5, 5}},
         -1},
        {"a server that lets nobody in may have none",
         {{"a", way::imap, extent::complete, 9, 9}, {"b", way::imap, extent::nothing, 5, 5}},
         9},
        {"two protocols show the same",
         {{"a", way::pop3, extent::partly, 9, 9}, {"b", way::imap, extent::complete, 8, 9}},
         8},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const coverage got = coverage_of(each.visits);
        CHECK(got.visited(7));
        CHECK(got.read_until(7) == (each.until_s < 0 ? coverage::never : each.until_s * second));
        CHECK(got.read_until(8) == coverage::never);
    }
    CHECK(coverage_of({}).reason(7) == "no reader visited it");
    CHECK(coverage_of({{"a", way::pop3, extent::partly, 5, 6}}).reason(7) == "because");
    CHECK(coverage_of({{"a", way::pop3, extent::complete, 5, 6}}).reason(7).find("before that") !=
          std::string::npos);
}

TEST_CASE("coverage: a watch covers what was accepted while it went on") {
    const coverage got = coverage_of({{"a", way::imap, extent::incoming, 100, 200}});
    CHECK(!got.watched(7, 100 * second));  // perhaps there before it was acknowledged
    CHECK(got.watched(7, 101 * second));
    CHECK(got.watched(7, 200 * second));
    CHECK(!got.watched(7, 200 * second + 1));
    CHECK(!got.watched(8, 150 * second));
    CHECK(got.read_until(7) == coverage::never);
}

TEST_CASE("ledger report: only a complete reading makes a message lost") {
    struct row {
        std::string what;
        extent how;
        std::int64_t began_s;
        std::uint64_t lost, not_looked_for;
    };
    const row rows[]{
        {"complete, after it was accepted", extent::complete, 101, 1, 1},
        {"at the same moment", extent::complete, 100, 1, 1},
        {"before it was accepted", extent::complete, 99, 0, 2},
        {"in part", extent::partly, 101, 0, 2},
        {"not let in", extent::nothing, 101, 0, 2},
        {"watched, but only later", extent::incoming, 101, 0, 2},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        read_book all(here / "b");
        all.seen(0, "a", 102, 5).visit("a", each.how, each.began_s, "the reason");
        const told got = all.report();
        CHECK(got.totals.lost == each.lost);
        CHECK(got.totals.not_looked_for == each.not_looked_for);
        CHECK(got.totals.found == 1);
        CHECK(got.totals.vanished == 0);
        CHECK(got.totals.broken_promise() == (each.lost > 0));
        REQUIRE(got.rows.size() == each.not_looked_for);
        for (const discrepancy_row& one : got.rows) {
            const std::string wanted = one.recipient == "b" ? "no reader visited it"
                                       : each.how == extent::complete
                                           ? "it was read before that, and not since"
                                           : "the reason";
            CHECK(one.detail == wanted);
        }
    }
}

TEST_CASE("ledger report: vanished is what was seen, and is missing in a later complete reading") {
    struct row {
        std::string what;
        std::vector<std::int64_t> seen_s;  // of message 0
        extent how;
        std::int64_t began_s;
        bool removed;
        std::uint64_t vanished;
    };
    const row rows[]{
        {"seen by the reading itself", {102}, extent::complete, 101, false, 0},
        {"seen before, not by it", {102}, extent::complete, 103, false, 1},
        {"seen again", {102, 104}, extent::complete, 103, false, 0},
        {"a reader removed it", {102}, extent::complete, 103, true, 0},
        {"the reading was not complete", {102}, extent::partly, 103, false, 0},
        {"nobody was let in", {102}, extent::nothing, 103, false, 0},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        read_book all(here / "b");
        for (const std::int64_t at : each.seen_s)
            all.seen(0, "a", at, 5);
        if (each.removed) all.removed(0, "a", 102, 5);
        all.seen(1, "a", 104, 6).visit("a", each.how, each.began_s);
        const told got = all.report(discrepancy::vanished);
        CHECK(got.totals.vanished == each.vanished);
        CHECK(got.totals.found == 2 - each.vanished);
        CHECK(got.totals.broken_promise() == (each.vanished > 0));
        REQUIRE(got.rows.size() == each.vanished);
        if (each.vanished > 0) CHECK(got.rows[0].mailbox == "a");
    }
}

TEST_CASE("ledger report: of two copies one was removed, and both are gone") {
    const folder here;
    read_book all(here / "b");
    all.seen(0, "a", 102, 5).seen(0, "a", 102, 6).removed(0, "a", 102, 5);
    all.seen(1, "a", 104, 7).visit("a", extent::complete, 103);
    CHECK(all.report().totals.vanished == 1);
}

TEST_CASE("ledger report: removals account for the copies that they were of") {
    struct copy {
        std::int64_t at_s;
        std::uint64_t uid;
    };
    struct row {
        std::string what;
        std::vector<copy> seen;
        std::vector<copy> removed;
        std::uint64_t vanished;
    };
    const row rows[]{
        {"seen while the server was at it", {{102, 5}, {105, 5}}, {{103, 5}}, 0},
        {"seen long behind that: it was not removed", {{102, 5}, {203, 5}}, {{103, 5}}, 1},
        {"the same, and told once more", {{102, 5}, {203, 5}}, {{103, 5}, {204, 5}}, 0},
        {"told twice at once, of two copies", {{102, 5}, {102, 6}}, {{103, 5}, {103, 5}}, 1},
        {"two copies, one after the other",
         {{102, 5}, {102, 6}, {203, 6}},
         {{103, 5}, {204, 6}},
         0},
        {"of two copies the first was not removed",
         {{102, 5}, {102, 6}, {203, 5}, {203, 6}},
         {{103, 5}, {204, 6}},
         1},
        {"two copies without uids", {{102, 0}, {102, 0}}, {{103, 0}, {103, 0}}, 0},
        {"one of two copies without uids", {{102, 0}, {102, 0}}, {{103, 0}}, 1},
    };
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        read_book all(here / "b");
        for (const copy& one : each.seen)
            all.seen(0, "a", one.at_s, one.uid);
        for (const copy& one : each.removed)
            all.removed(0, "a", one.at_s, one.uid);
        all.seen(1, "a", 500, 7).visit("a", extent::complete, 499);
        CHECK(all.report().totals.vanished == each.vanished);
    }
}

TEST_CASE(
    "ledger report: a removal has failed where the message is seen when its reader has ended") {
    const folder here;
    read_book all(here / "b");
    all.seen(0, "a", 102, 5).removed(0, "a", 103, 5).seen(0, "a", 106, 5);
    all.seen(1, "a", 111, 6).visit("a", extent::complete, 110);
    CHECK(all.report().totals.vanished == 0);
    run_sql(here / "b", "UPDATE runs SET ended_us = 104000000");
    CHECK(report(here / "b").totals.vanished == 1);
}

TEST_CASE("ledger report: what a reader without an end may have removed has not vanished") {
    const folder here;
    read_book all(here / "b");
    all.seen(0, "a", 102, 5).seen(1, "a", 111, 6).visit("a", extent::complete, 110);
    CHECK(all.report().totals.vanished == 1);
    run_sql(here / "b",
            "INSERT INTO runs(run, program, role, started, horizon_us, notes_visits) "
            "VALUES('c', 'rabid', 'reader', '1970-01-01T00:01:43.000Z', 103000000, 1)");
    const told got = report(here / "b", discrepancy::not_known);
    CHECK(got.totals.vanished == 0);
    CHECK(got.totals.found == 1);
    CHECK(got.rows.size() == got.totals.not_known);
}

TEST_CASE("ledger report: of a run one visit of each extent is kept, the latest, and each watch") {
    const folder here;
    read_book all(here / "b");
    all.visit("a", extent::complete, 200).visit("a", extent::complete, 150);
    all.visit("a", extent::nothing, 300, "x").visit("a", extent::nothing, 400, "y");
    all.visit("a", extent::incoming, 500).visit("a", extent::incoming, 600);
    all.report();
    CHECK(ask_sql(here / "b",
                  "SELECT v.extent || (w.began_us / 1000000) || coalesce(w.reason, '') FROM "
                  "mailbox_visits v JOIN visits w USING(number) ORDER BY w.extent, w.number") ==
          "complete200 incoming500 incoming600 nothing400y");
}

// A server ends the connection, and the reader comes again.
TEST_CASE("ledger report: what came in during an earlier watch was looked for") {
    struct row {
        std::string what;
        std::vector<std::int64_t> watches_s;  // where they begin; each lasts a second
        std::uint64_t lost;
    };
    const row rows[]{{"while it was watched", {99}, 2},
                     {"in the watch before", {99, 200}, 2},
                     {"in the first of three", {99, 200, 300}, 2},
                     {"between two watches", {90, 200}, 0}};
    for (const row& each : rows) {
        INFO(each.what);
        const folder here;
        read_book all(here / "b");
        for (const std::int64_t began_s : each.watches_s)
            all.visit("a", extent::incoming, began_s);
        const told got = all.report();
        CHECK(got.totals.lost == each.lost);
        CHECK(got.totals.not_looked_for == 3 - each.lost);
    }
}

// As the version that made it would have: of all watches only the last is there.
TEST_CASE("ledger report: ledgers of schema 3 are read, alone and joined, and not written to") {
    const folder here;
    {
        read_book all(here / "b");
        all.seen(0, "a", 102, 5).visit("a", extent::complete, 103).visit("a", extent::incoming, 99);
        all.report();
    }
    make_older(here / "b", 3);
    const auto check = [](const answers& got) {
        CHECK(got.totals.vanished == 1);
        CHECK(got.totals.lost == 1);
        CHECK(got.totals.not_looked_for == 1);
    };
    { book(here / "empty").report(); }
    for (const auto& paths :
         {std::vector{here / "b"}, {here / "empty", here / "b"}, {here / "b", here / "empty"}}) {
        auto opened = reader::open(paths);
        INFO((opened ? std::string() : opened.error().message));
        REQUIRE(opened.has_value());
        const auto said = opened->reconcile({});
        REQUIRE(said.has_value());
        check(*said);
    }
    const auto refused = writer::open(here / "b", run_of(9));
    REQUIRE(!refused.has_value());
    CHECK(refused.error().message.find("older version") != std::string::npos);
}

TEST_CASE("ledger report: of what runs of older versions do not tell nothing is concluded") {
    const folder here;
    {
        read_book all(here / "b", false);
        all.seen(0, "a", 102, 5);
        all.report();
    }
    run_sql(
        here / "b",
        "DROP VIEW returned_messages; DROP TABLE returned; DROP TABLE actions; "
        "DROP VIEW mailbox_waits; DROP TABLE waits; DROP TABLE waitings; DROP TABLE notices; "
        "DROP VIEW mailbox_visits; DROP TABLE visits; DROP TABLE removed; DROP TABLE extents; "
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, ',\n    "
        "notes_visits INTEGER', '') WHERE name = 'runs'; UPDATE sqlite_schema SET sql = "
        "replace(replace(sql, ', octets INTEGER', ''), ', s.octets', '') "
        "WHERE name IN ('sent', 'sent_messages'); UPDATE sqlite_schema SET sql = "
        "replace(replace(replace(sql, ',\n    announced_us INTEGER, notice INTEGER, watcher "
        "INTEGER, arrived_us INTEGER', ''), ',\n    strftime(''%Y-%m-%dT%H:%M:%S'', "
        "s.announced_us / 1000000, ''unixepoch'')\n        || printf(''.%06dZ'', s.announced_us "
        "% 1000000) AS announced, n.notice, s.watcher', ''), '\n    LEFT JOIN notices n ON "
        "n.id = s.notice', '') WHERE name IN ('seen', 'seen_messages'); "
        "PRAGMA user_version = 2");
    const auto check = [](const answers& got) {
        CHECK(got.totals.lost == 2);
        CHECK(got.totals.found == 1);
        CHECK(got.totals.not_looked_for == 0);
        CHECK(std::count_if(got.runs.begin(), got.runs.end(),
                            [](const run_row& one) { return !one.tells; }) == 1);
    };
    auto alone = reader::open(here / "b");
    REQUIRE(alone.has_value());
    auto said = alone->reconcile({});
    REQUIRE(said.has_value());
    check(*said);
    { book(here / "empty").report(); }
    auto joined = reader::open(std::vector{here / "empty", here / "b"});
    REQUIRE(joined.has_value());
    said = joined->reconcile({});
    REQUIRE(said.has_value());
    check(*said);
    const auto refused = writer::open(here / "b", run_of(9));
    REQUIRE(!refused.has_value());
    CHECK(refused.error().message.find("older version") != std::string::npos);
}

TEST_CASE("ledger report: two names of one store") {
    const folder here;
    book all(here / "b");
    all.sent(0, "a");
    for (const char* server : {"one", "two"}) {
        seen_row& seen = all.seen(0, "a");
        seen.through = way::imap;
        seen.server = all.address(server);
        seen.uid_validity = 9;
        seen.uid = 4;
    }
    const told got = all.report();
    CHECK(got.totals.duplicated == 1);
    CHECK(got.totals.same_on_two_servers == 1);
    auto again = reader::open(here / "b");
    REQUIRE(again.has_value());
    questions wanted;
    wanted.one_store = true;
    const auto said = again->reconcile(wanted);
    REQUIRE(said.has_value());
    CHECK(said->totals.duplicated == 0);
    CHECK(said->totals.found == 1);
}

TEST_CASE("ledger report: POP3 visits that chose what to read know no order") {
    for (const extent how : {extent::complete, extent::partly}) {
        INFO(to_text(how));
        const folder here;
        read_book all(here / "b");
        all.seen(1, "a", 102, 5).visit("a", how, 101, "chosen").seen(0, "a", 104, 6);
        all.visit("a", extent::complete, 103);
        const told got = all.report(discrepancy::out_of_order);
        const bool known = how == extent::complete;
        CHECK(got.totals.out_of_order == (known ? 1U : 0U));
        CHECK(got.totals.order_unknown == (known ? 0U : 2U));
    }
}
